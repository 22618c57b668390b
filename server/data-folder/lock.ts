/**
 * Locks a data folder for one process, because chDB and the read model allow only one writer.
 *
 * The lock is a Unix socket in the folder. Its holder listens on it. When the process ends, even when it is killed,
 * nobody answers on the file that remains.
 */
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, relative } from 'node:path';
import { StartError } from '../failures.js';

export const lockFileName = 'in-use.socket';

/** Returns the shorter of the absolute and the relative path, because socket paths are limited to about 100 bytes. */
function socketPath(folder: string): string {
  const path = join(folder, lockFileName);
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

/** Throws if another process uses the folder. Holds the lock until the process ends. */
export async function lockFolder(folder: string): Promise<void> {
  const path = socketPath(folder);
  if (await isAnswering(path)) throw new StartError(`another process is using the data folder ${folder}`);
  rmSync(path, { force: true });
  await listen(path);
}
