/**
 * 60 bodies of 5 MiB without their last byte stayed in memory for more than an hour, with a public key. So did 60 of 1
 * MiB without any key. Nothing bounded their sum.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeClients, RawClient } from '../connections/testing/raw-client.js';
import { createTestServer } from '../testing/server.js';

const mebibyte = 2 ** 20;

let app: ReturnType<typeof createTestServer>;
let port: number;
let handled: number;
/** Lets the requests of /v1/wait end. */
let release: () => void;

beforeEach(async () => {
  handled = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  app = createTestServer({
    bodyLimitBytes: 12 * mebibyte,
    maxBufferedBodyBytes: 32 * mebibyte,
  });
  const config = { authority: 'none' } as const;
  app.post('/v1/echo', { config }, async ({ body }) => ({ characters: (body as string).length }));
  app.post('/v1/wait', { config }, async ({ body }) => {
    handled += 1;
    await released;
    return { characters: (body as string).length };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
afterEach(async () => {
  closeClients();
  release();
  await app.close();
});

interface Sending {
  readonly path?: string;
  readonly localAddress?: string;
  /** Bytes at the end that are not sent. */
  readonly missing?: number;
  readonly isChunked?: boolean;
}

function send(
  bytes: number,
  { path = '/v1/echo', localAddress, missing = 0, isChunked = false }: Sending = {},
): RawClient {
  const client = new RawClient(port, localAddress === undefined ? {} : { localAddress });
  const body = `"${'x'.repeat(bytes - 2)}"`.slice(0, bytes - missing);
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`;
  client.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  client.socket.write(isChunked ? `${body.length.toString(16)}\r\n${body}\r\n${missing > 0 ? '' : '0\r\n\r\n'}` : body);
  return client;
}

async function answerOf(client: RawClient): Promise<number> {
  await client.until(() => client.statuses.length > 0 && client.text.endsWith('}'));
  return client.statuses[0]!;
}

/** Sends until the address has used up its part of 8 MiB; returns the client that was refused. */
async function fill(sending: Sending): Promise<RawClient> {
  const clients = Array.from({ length: 6 }, () => send(2 * mebibyte, { ...sending, missing: 1 }));
  const refused = (): RawClient[] => clients.filter(({ statuses }) => statuses.length > 0);
  await clients[0]!.until(() => refused().length >= 2);
  return refused()[0]!;
}

it.each([
  ['a length', {}],
  ['chunks', { isChunked: true }],
])(
  'unfinished bodies with %s: an address beyond its part is refused, others and small bodies are not',
  async (_what, sending) => {
    const refused = await fill(sending);
    await answerOf(refused);
    expect(refused.meta).toMatchObject({ code: 503, type: 'overloaded' });
    expect(refused.text).toMatch(/^retry-after: 1\r$/im);
    expect(await answerOf(send(10_000))).toBe(200);
    expect(await answerOf(send(2 * mebibyte, { localAddress: '127.0.0.2' }))).toBe(200);
    closeClients();
    await expect.poll(() => answerOf(send(7 * mebibyte)), { timeout: 60_000 }).toBe(200);
  },
);

it('a complete body counts until its request is answered', async () => {
  const first = send(5 * mebibyte, { path: '/v1/wait' });
  await first.until(() => handled === 1);
  expect(await answerOf(send(5 * mebibyte))).toBe(503);
  release();
  expect(await answerOf(first)).toBe(200);
  await expect.poll(() => answerOf(send(5 * mebibyte)), { timeout: 60_000 }).toBe(200);
});

it('one body may be larger than the part of an address', async () => {
  expect(await answerOf(send(10 * mebibyte))).toBe(200);
});

it('all addresses together have a limit', async () => {
  for (let address = 1; address <= 5; address++) {
    const waiting = send(7 * mebibyte, { path: '/v1/wait', localAddress: `127.0.0.${address}` });
    await waiting.until(() => handled === address || waiting.statuses.length > 0);
    expect(waiting.statuses).toEqual(address <= 4 ? [] : [503]);
  }
});

it('a body that is refused for its size does not stay counted', async () => {
  const tooLarge = send(13 * mebibyte, { isChunked: true });
  expect(await answerOf(tooLarge)).toBe(413);
  await expect.poll(() => answerOf(send(7 * mebibyte)), { timeout: 60_000 }).toBe(200);
});
