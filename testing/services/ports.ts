/** Addresses on this machine that nothing listens on. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The address on which all services listen. */
export const loopback = '127.0.0.1';

/** Below the ports of outgoing connections, so that no connection takes a server's port during a restart. */
const firstPort = 20_000;
const shareSize = 200;
const shares = 60;

/** Ports that one process alone gives to its servers. It listens on the first of them, which tells other processes. */
export interface PortShare {
  readonly first: number;
  readonly claim: Server;
  next: number;
}

/**
 * Claims a share of the ports until this process ends.
 *
 * A server listens seconds after its port was chosen, and a test restarts it on the same port. A port that is free at a
 * moment may therefore belong to a server of another process.
 */
export async function claimShare(preferred = randomInt(shares)): Promise<PortShare> {
  for (let attempt = 0; attempt < shares; attempt++) {
    const first = firstPort + ((preferred + attempt) % shares) * shareSize;
    const claim = await listen(first);
    if (claim) return { first, claim: claim.unref(), next: 1 };
  }
  throw new Error(`${shares} other processes have all shares of the ports from ${firstPort} on`);
}

/** Of the process, because each test file of a shared process has its own copy of this module. */
const ofProcess = globalThis as { fencelineTestPorts?: Promise<PortShare> };

/** Returns `count` different ports that nothing listens on, and that no other process chooses while this one runs. */
export async function freePorts(count: number): Promise<number[]> {
  ofProcess.fencelineTestPorts ??= claimShare();
  const share = await ofProcess.fencelineTestPorts;
  const ports: number[] = [];
  for (let attempt = 1; ports.length < count; attempt++) {
    if (attempt === shareSize) throw new Error(`no ${count} free ports from ${share.first} on`);
    const port = share.first + share.next;
    share.next = (share.next % (shareSize - 1)) + 1;
    const server = await listen(port);
    if (!server) continue;
    server.close();
    ports.push(port);
  }
  return ports;
}

/** Returns a server that listens on the port, or undefined if the port is taken. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, loopback);
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}
