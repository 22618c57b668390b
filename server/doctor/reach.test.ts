import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { reach } from './reach.js';

// On a busy machine, a process that loaded modules for seconds saw no service, although all had answered meanwhile.
test('a connection that opened while the process was busy is not out of reach', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const limitMs = 100;

  const reached = reach('127.0.0.1', port, limitMs);
  // The connection is requested in the next tick. The machine opens it while the process is busy.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * limitMs);
  expect(await reached).toEqual({ address: `127.0.0.1:${port}`, problem: undefined });
});
