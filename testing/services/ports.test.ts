/** Ports of test servers. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { claimShare, freePorts, loopback, type PortShare } from './ports.js';

const claimed: PortShare[] = [];
afterEach(() => {
  for (const { claim } of claimed.splice(0)) claim.close();
});

it('gives the port of a stopped server to no other process, whichever share that process prefers', async () => {
  for (let process = 0; process < 5; process++) claimed.push(await claimShare(7));
  expect(new Set(claimed.map(({ first }) => first)).size).toBe(5);
});

it('chooses different ports, none of which is listened on', async () => {
  const [taken] = (await freePorts(1)) as [number];
  const server = createServer().listen(taken, loopback);
  await once(server, 'listening');
  // More than half of a share each, so that the second turn meets the taken port again.
  const first = await freePorts(150);
  const second = await freePorts(150);
  server.close();
  expect(new Set(first).size).toBe(150);
  expect([...first, ...second]).not.toContain(taken);
});
