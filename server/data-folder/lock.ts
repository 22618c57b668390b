/**
 * One process at a time on a data folder: chDB and the read model have a single writer.
 *
 * The lock is a local socket in the folder that its holder listens on. It is gone with the process, however that ends;
 * what a killed one leaves behind is a file on which nobody answers.
 */
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, relative } from 'node:path';
import { StartError } from '../failures.js';

const fileName = 'in-use.socket';

/** Socket paths are limited to about a hundred bytes: the shorter of the two ways to say it. */
function socketPath(folder: string): string {
  const path = join(folder, fileName);
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

/** Throws when another process is on the folder. The lock is held until the process ends. */
export async function lockFolder(folder: string): Promise<void> {
  const path = socketPath(folder);
  if (await isAnswering(path)) throw new StartError(`another process is using the data folder ${folder}`);
  rmSync(path, { force: true });
  await listen(path);
}
