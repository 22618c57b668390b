/** Restores older data of a server, as after a disk that lost its newest writes or a restored copy. Processes only. */
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from './server.js';

/**
 * Copies the data of the server while it is stopped, and starts it again. Returns a function that starts it on the
 * copy.
 */
export async function rememberData(server: Server, name: string): Promise<() => Promise<void>> {
  if (server.folder === undefined) throw new Error('the data of a server in a container cannot be put back');
  const data = join(server.folder, name);
  const copy = `${data}.older`;
  await server.kill();
  await cp(data, copy, { recursive: true });
  await server.restart();
  return async () => {
    await server.kill();
    await rm(data, { recursive: true });
    await rename(copy, data);
    await server.restart();
  };
}
