/**
 * The hosts file of this machine as it is now.
 *
 * Flows in: the file. Flows out: its addresses by name. Read in place, not by one of the process's few threads for
 * files: it is small and mostly only asked when it was changed, and no name waits for what keeps those threads.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { win32 } from 'node:path';
import { type Hosts, parseHosts } from './hosts.js';

const systemPath =
  process.platform === 'win32'
    ? win32.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/** Read of the file, to the end of a line; what comes after is as if it weren't there. */
export const maxBytes = 1_048_576;

export class HostsFile {
  readonly #path: string;
  /** Of the file as it was read, with `#hosts`; empty without one. */
  #version = '';
  #hosts: Hosts = new Map();

  constructor(path = systemPath) {
    this.#path = path;
  }

  /** Read again when the file's time or size has changed. A file that isn't there or can't be read is an empty one. */
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
