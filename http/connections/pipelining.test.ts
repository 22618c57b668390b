/**
 * One connection sent 420 requests for large answers in 72 kB, with a public key, and read nothing. Node passed all of
 * them on at once, all answers waited in memory, and the process ended with "Reached heap limit".
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTestServer } from '../testing/server.js';
import type { ConnectionBounds } from './connections.js';
import { closeClients, RawClient } from './testing/raw-client.js';

type App = ReturnType<typeof createTestServer>;

/** More than the kernel's buffers of a connection hold. */
const large = 'x'.repeat(24 * 2 ** 20);

let app: App;
let port: number;
/** Paths in the order in which their handlers started. */
let started: string[];
/** Lets the requests of /v1/wait end. */
let release: () => void;

async function start(connections: Partial<ConnectionBounds> = {}): Promise<void> {
  app = createTestServer({
    connections,
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const config = { authority: 'none' } as const;
  app.get('/v1/large/:number', { config }, async ({ url }) => {
    started.push(url);
    return { large };
  });
  app.get('/v1/small/:number', { config }, async ({ url }) => {
    started.push(url);
    return { url };
  });
  app.get('/v1/wait', { config }, async ({ url }) => {
    started.push(url);
    await released;
    return { url };
  });
  app.post('/v1/echo', { config }, async ({ url, body }) => {
    started.push(url);
    return { got: body };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
}

const get = (path: string): string => `GET /v1/${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (body: string): string =>
  'POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
  `Content-Length: ${body.length}\r\n\r\n${body}`;
const numbered = (count: number, path: string): string[] =>
  Array.from({ length: count }, (_, index) => `${path}/${index}`);

beforeEach(() => {
  started = [];
});
afterEach(async () => {
  closeClients();
  release();
  await app.close();
});

describe('requests of one connection', () => {
  it('are handled after the answers before them have left the process', async () => {
    await start();
    const client = new RawClient(port, { isReading: false });
    client.socket.write(numbered(400, 'large').map(get).join(''));
    await client.until(() => started.length > 0);
    const other = new RawClient(port);
    // The server goes on with other connections meanwhile, many times.
    for (const [index, path] of numbered(20, 'small').entries()) {
      other.socket.write(get(path));
      await other.until(() => other.statuses.length === index + 1);
    }
    expect(started.filter((path) => path.includes('large'))).toEqual(['/v1/large/0']);
  });

  it('are all answered, in their order, however many arrive at once', async () => {
    await start();
    const client = new RawClient(port);
    const paths = numbered(3_000, 'small');
    client.socket.write(paths.map(get).join(''));
    await client.until(() => client.statuses.length === paths.length);
    expect([...client.text.matchAll(/\{"url":"(.*?)"\}/g)].map(([, url]) => url)).toEqual(
      paths.map((path) => `/v1/${path}`),
    );
  });

  it('leave turns to other connections, even if they are all answered at once', async () => {
    await start();
    const many = new RawClient(port);
    many.socket.write(numbered(1_000, 'small').map(get).join(''));
    await many.until(() => started.length > 0);
    const other = new RawClient(port);
    other.socket.write(get('small/other'));
    await other.until(() => other.statuses.length === 1);
    expect(started.length).toBeLessThan(1_000);
  });

  it('have their bodies, also one that arrives while its request is held back', async () => {
    await start();
    const client = new RawClient(port);
    const body = JSON.stringify('y'.repeat(500_000));
    client.socket.write(get('wait') + post(body) + post('"last"'));
    await client.until(() => started.length === 1);
    release();
    await client.until(() => client.statuses.length === 3 && client.text.endsWith('{"got":"last"}'));
    expect(client.statuses).toEqual([200, 200, 200]);
    expect(client.text).toContain(`{"got":${body}}`);
  });

  it('wait for as long as the first one takes: the headers of a later one do not time out', async () => {
    await start({ headersTimeoutMs: 200 });
    const client = new RawClient(port);
    const requests = numbered(4_000, 'small').map(get).join('');
    client.socket.write(get('wait') + requests);
    await client.until(() => started.length === 1);
    const unfinished = new RawClient(port);
    unfinished.socket.write('GET /v1/sm');
    await unfinished.ended;
    expect(unfinished.statuses).toEqual([408]);
    release();
    await client.until(() => client.statuses.length === 4_001);
    expect(new Set(client.statuses)).toEqual(new Set([200]));
  });

  it('beyond the limit of the node are refused after the answers before them', async () => {
    await start({ maxHeldRequests: 5 });
    const client = new RawClient(port);
    client.socket.write(get('wait') + numbered(8, 'small').map(get).join(''));
    await client.until(() => started.length === 1);
    release();
    await client.ended;
    expect(client.statuses).toEqual([200, 200, 200, 200, 200, 200, 503]);
    expect(client.meta).toMatchObject({ type: 'overloaded' });
    const next = new RawClient(port);
    next.socket.write(numbered(6, 'small').map(get).join(''));
    await next.until(() => next.statuses.length === 6);
    expect(next.statuses).toEqual(Array(6).fill(200));
  });
});

describe('a client that does not read its answers', () => {
  const openConnections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));

  it('is disconnected', async () => {
    await start({ answerTimeoutMs: 400 });
    const client = new RawClient(port, { isReading: false });
    client.socket.write(get('large/0'));
    await client.until(() => started.length === 1);
    await expect.poll(openConnections).toBe(0);
  });

  it('keeps its connection if it only reads slowly', async () => {
    const answerTimeoutMs = 3_000;
    // Only the pauses take time, however busy the machine is.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await start({ answerTimeoutMs, minAnswerBytesPerSecond: 1 });
    const client = new RawClient(port, { isReading: false });
    client.socket.write(get('large/0'));
    await client.until(() => started.length === 1);
    const pauses = 10;
    let readable = 0;
    // Stops at the byte: otherwise one turn could read what the next five turns wait for.
    client.socket.on('data', () => {
      if (client.text.length >= readable) client.socket.pause();
    });
    for (let pause = 1; pause <= pauses; pause++) {
      vi.advanceTimersByTime((2 * answerTimeoutMs) / pauses);
      readable = (pause / pauses) * large.length;
      client.socket.resume();
      await client.until(() => client.text.length >= readable);
    }
    readable = Number.POSITIVE_INFINITY;
    client.socket.resume();
    await client.until(() => client.text.endsWith('"}'));
    expect(client.error).toBeUndefined();
  });

  it('keeps its connection if the server stood still', async () => {
    const answerTimeoutMs = 1_000;
    await start({ answerTimeoutMs });
    const client = new RawClient(port, { isReading: false });
    client.socket.write(get('large/0'));
    await client.until(() => started.length === 1);
    const standsStillUntil = performance.now() + 2 * answerTimeoutMs;
    while (performance.now() < standsStillUntil);
    await nextTurn();
    client.socket.resume();
    await client.until(() => client.text.endsWith('"}'));
  });
});
