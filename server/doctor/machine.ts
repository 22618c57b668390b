/** Checks what Fenceline needs of the machine: Node, the platform, and native modules. */
import { readFileSync } from 'node:fs';
import type { Configuration } from '../config/schema.js';
import { version } from '../version.js';
import { type Finding, findingsAbout } from './finding.js';

const oldestNode = { major: 20, minor: 19 };
const { ok, failure } = findingsAbout('machine');

interface NativeModule {
  readonly name: string;
  readonly purpose: string;
  readonly load: () => Promise<unknown>;
}
const lmdb: NativeModule = { name: 'lmdb', purpose: 'the log and the configuration', load: () => import('lmdb') };
const chdb: NativeModule = { name: 'chdb', purpose: 'analytics', load: () => import('chdb') };
const drawing: readonly NativeModule[] = [
  { name: '@napi-rs/canvas', purpose: 'maps', load: () => import('@napi-rs/canvas') },
  { name: 'sharp', purpose: 'maps', load: () => import('sharp') },
];

export async function* checkMachine({ backend, roles }: Configuration): AsyncGenerator<Finding> {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const oldest = `${oldestNode.major}.${oldestNode.minor}`;
  const isTooOld = major < oldestNode.major || (major === oldestNode.major && minor < oldestNode.minor);
  if (isTooOld) yield failure(`Node ${node} is older than ${oldest}`, `Install Node ${oldest} or newer.`);
  else yield ok(`Fenceline ${version}, Node ${node}, ${process.platform} ${process.arch}`);

  const isEmbedded = backend === 'embedded';
  const needed = [lmdb, ...(isEmbedded ? [chdb] : []), ...(isEmbedded || roles.includes('api') ? drawing : [])];
  const failed: Finding[] = [];
  for (const { name, purpose, load } of needed) {
    try {
      await load();
    } catch (error) {
      const [reason = ''] = (error as Error).message.split('\n');
      failed.push(failure(`${name}, which ${purpose} need, can't be loaded: ${reason}`, reinstall()));
    }
  }
  if (failed.length > 0) yield* failed;
  else yield ok(`native modules load: ${needed.map(({ name }) => name).join(', ')}`);
}

const reinstall = (): string =>
  isMusl()
    ? 'This system has musl, for which there are no builds. Use a distribution with glibc, such as Debian.'
    : 'Run "npm ci" on this machine, with optional packages. node_modules of another platform can not be copied.';

function isMusl(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return !/libc\.so\.6/.test(readFileSync('/proc/self/maps', 'utf8'));
  } catch {
    return false;
  }
}
