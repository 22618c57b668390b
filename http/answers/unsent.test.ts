/**
 * Many connections that read nothing filled the memory of a node in the same way as one. Each had a large answer to a
 * short request with a public key.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDeferred } from '../../schemas/deferred.js';
import { closeClients, RawClient } from '../connections/testing/raw-client.js';
import { createTestServer } from '../testing/server.js';

/** More than the kernel's buffers of a connection hold. */
const large = 'x'.repeat(24 * 2 ** 20);

let app: ReturnType<typeof createTestServer>;
let port: number;
/** Requests for large answers, and requests that changed something. */
let handled: { large: number; changes: number };
/** Requests whose answers are made once their clients have left. */
let slow: { begun: number; answered: number };

beforeEach(async () => {
  handled = { large: 0, changes: 0 };
  slow = { begun: 0, answered: 0 };
  app = createTestServer({
    maxUnsentBytes: 4 * 32 * 2 ** 20,
  });
  const config = { authority: 'none' } as const;
  app.get('/v1/large', { config }, async () => {
    handled.large += 1;
    return { large };
  });
  const onSend = async () => {
    slow.answered += 1;
  };
  app.get('/v1/slow', { config, onSend }, async (_request, reply) => {
    const left = createDeferred();
    reply.raw.once('close', left.resolve);
    slow.begun += 1;
    await left.promise;
    return { large };
  });
  app.get('/v1/small', { config }, async () => ({ meta: { code: 200 } }));
  app.post('/v1/change', { config }, async () => {
    handled.changes += 1;
    return { large };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
afterEach(async () => {
  closeClients();
  await app.close();
});

/** Sends the request on a new connection that reads nothing, and resolves when its answer waits for the client. */
async function leaveUnread(request: string, localAddress?: string): Promise<RawClient> {
  const { large: before, changes } = handled;
  const client = new RawClient(port, { isReading: false, ...(localAddress && { localAddress }) });
  client.socket.write(`${request} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
  await client.until(() => handled.large + handled.changes === before + changes + 1);
  return client;
}

async function statusOf(request: string, localAddress?: string): Promise<number> {
  const client = new RawClient(port, localAddress === undefined ? {} : { localAddress });
  client.socket.write(`${request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  await client.ended;
  if (client.statuses[0] === 503) {
    expect(client.meta).toMatchObject({ type: 'overloaded' });
    expect(client.text).toMatch(/^retry-after: 1\r$/im);
  }
  return client.statuses[0]!;
}

it('an address whose answers are unread gets no further large ones, but small ones', async () => {
  const reader = await leaveUnread('GET /v1/large');
  expect(await statusOf('GET /v1/large')).toBe(503);
  expect(await statusOf('GET /v1/small')).toBe(200);
  expect(await statusOf('GET /v1/large', '127.0.0.2')).toBe(200);
  reader.socket.resume();
  await reader.until(() => reader.text.length > large.length);
  await expect.poll(() => statusOf('GET /v1/large')).toBe(200);
});

it('a connection that ends frees what it has not read', async () => {
  const reader = await leaveUnread('GET /v1/large');
  reader.socket.destroy();
  await expect.poll(() => statusOf('GET /v1/large')).toBe(200);
});

// Each such answer was counted for the life of the process, until a node refused all large answers and all changes.
it('an answer that is made after its client has left takes no memory', async () => {
  const client = new RawClient(port);
  client.socket.write('GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.until(() => slow.begun === 1);
  client.socket.destroy();
  await expect.poll(() => slow.answered).toBe(1);
  expect(await statusOf('GET /v1/large')).toBe(200);
});

it('all addresses together have a limit', async () => {
  for (let address = 1; address <= 5; address++) await leaveUnread('GET /v1/large', `127.0.0.${address}`);
  expect(await statusOf('GET /v1/large', '127.0.0.6')).toBe(503);
  expect(await statusOf('GET /v1/small', '127.0.0.6')).toBe(200);
});

it('a change whose answer cannot be kept is refused before it has an effect', async () => {
  for (let count = 1; count <= 2; count++) await leaveUnread('POST /v1/change');
  expect(await statusOf('POST /v1/change')).toBe(503);
  expect(handled.changes).toBe(2);
});
