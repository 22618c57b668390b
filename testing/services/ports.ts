/** Addresses on this machine that nothing listens on. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const loopback = '127.0.0.1';

/** Below the ports of outgoing connections, so that no connection takes a server's port during a restart. */
const firstPort = 20_000;
const endPort = 32_000;
const maxAttempts = 100;

/** So many different ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < count; attempt++) {
    if (attempt === maxAttempts) throw new Error(`no ${count} free ports after ${maxAttempts} attempts`);
    const port = randomInt(firstPort, endPort);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, loopback);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
