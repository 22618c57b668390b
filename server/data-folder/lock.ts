/**
 * Locks a data folder for one process, because chDB and the read model allow only one writer.
 *
 * The lock is a Unix socket in the folder. Its holder listens on it. When the process ends, even when it is killed,
 * nobody answers on the file that remains.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, relative } from 'node:path';
import { StartError } from '../failures.js';

/** The socket of the process that uses the folder. */
export const lockFileName = 'in-use.socket';
/** Sockets of processes that are about to take the lock. */
const candidatePrefix = 'lock-';

/** Returns whether a process that took the lock, or was about to, left the file. */
export const isOfLock = (name: string): boolean => name === lockFileName || name.startsWith(candidatePrefix);

/** Returns the shorter of the absolute and the relative path, because socket paths are limited to about 100 bytes. */
function socketPath(folder: string, name = lockFileName): string {
  const path = join(folder, name);
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}

const isAnswering = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.unref();
  });

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', reject).listen(path, () => resolve(server));
  });
}

/** Returns whether a running process uses the folder. */
export const isLocked = (folder: string): Promise<boolean> => isAnswering(socketPath(folder));

/**
 * Throws if another process uses the folder. Holds the lock until the process ends.
 *
 * Each process listens under a name of its own before it looks for others. So of two that start at the same moment, at
 * least one finds the other: beside it, or already under the name of the lock.
 */
export async function lockFolder(folder: string): Promise<void> {
  const own = `${candidatePrefix}${randomBytes(3).toString('hex')}`;
  const inUse = new StartError(`another process is using the data folder ${folder}`);
  const server = await listen(socketPath(folder, own));
  const others = readdirSync(folder).filter((name) => name.startsWith(candidatePrefix) && name !== own);
  for (const name of [...others, lockFileName]) {
    if (await isAnswering(socketPath(folder, name))) {
      server.close();
      throw inUse;
    }
    // Of a process that ended. One that is only about to listen on it finds this one, or fails below.
    if (name !== lockFileName) rmSync(join(folder, name), { force: true });
  }
  if (!existsSync(join(folder, own))) throw inUse;
  renameSync(join(folder, own), join(folder, lockFileName));
}
