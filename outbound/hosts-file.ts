/**
 * The machine's hosts file, kept up to date.
 *
 * Input: the file. Output: addresses by name. Reads synchronously instead of on Node's few file threads, so that
 * lookups don't wait for other work there. The file is small and read only when changed.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { win32 } from 'node:path';
import { type Hosts, parseHosts } from './hosts.js';

const systemPath =
  process.platform === 'win32'
    ? win32.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/** Bytes read of the file, cut at the end of a line; the rest is ignored. */
export const maxBytes = 1_048_576;

/** The names of a hosts file. */
export class HostsFile {
  readonly #path: string;
  /** Version of the file that `#hosts` was read from; empty without a file. */
  #version = '';
  #hosts: Hosts = new Map();

  constructor(path = systemPath) {
    this.#path = path;
  }

  /** Returns the hosts. Reads the file again if its time or size has changed. A missing or unreadable file is empty. */
  current(): Hosts {
    try {
      const { mtimeMs, size } = statSync(this.#path);
      const version = `${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#hosts = parseHosts(readStart(this.#path));
        this.#version = version;
      }
    } catch {
      this.#hosts = new Map();
      this.#version = '';
    }
    return this.#hosts;
  }
}

function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(maxBytes);
    const length = readSync(file, buffer);
    const text = buffer.toString('utf8', 0, length);
    return length < maxBytes ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } finally {
    closeSync(file);
  }
}
