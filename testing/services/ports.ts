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
const portsOfProcess = 200;
const shares = 60;

/**
 * Test files run side by side, and a server listens seconds after its port was chosen. So each process chooses from its
 * own share of the ports: processes that run at the same time have neighbouring ids. Within a process they take turns.
 */
const firstOfProcess = firstPort + (process.pid % shares) * portsOfProcess;
let next = randomInt(portsOfProcess);

/** So many different ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let attempt = 0; ports.length < count; attempt++) {
    if (attempt === portsOfProcess) throw new Error(`no ${count} free ports from ${firstOfProcess} on`);
    const port = firstOfProcess + next;
    next = (next + 1) % portsOfProcess;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
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
