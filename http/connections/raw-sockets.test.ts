/** Misbehaving clients on raw sockets: each case gets an error of the usual shape, or a clean end, in bounded time. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { networks } from '../../outbound/testing/clients.js';
import { until } from '../../testing/until.js';
import { createTestServer } from '../testing/server.js';
import type { ConnectionBounds } from './connections.js';
import { closeClients, RawClient } from './testing/raw-client.js';

type App = ReturnType<typeof createTestServer>;

const bounds = { maxConnections: 12, maxConnectionsPerAddress: 8, bodyTimeoutMs: 400, minBodyBytesPerSecond: 1_000 };

/** Requests that reached the handler of /v1/open. */
let handled = 0;
/** Lets the request to /v1/slow end; undefined before it has reached its handler. */
let release: (() => void) | undefined;

async function start(connections: Partial<ConnectionBounds> = bounds): Promise<{ app: App; port: number }> {
  const app = createTestServer({
    keyRing: {
      callerOf: async (key) =>
        key === 'good' ? { project: 'p', environment: 'test', kind: 'secret', keyHint: 'h' } : undefined,
      isKnown: (key) => key === 'good',
      catchUp: async () => {},
    },
    connections,
  });
  app.post('/v1/echo', { config: { authority: 'secret' } }, async (request) => ({
    meta: { code: 200 },
    got: request.body ?? null,
  }));
  app.get('/v1/slow', { config: { authority: 'none' } }, async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { meta: { code: 200 }, slow: true };
  });
  app.get('/v1/open', { config: { authority: 'none' } }, async () => {
    handled += 1;
    return { meta: { code: 200 } };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as { port: number }).port };
}

let app: App;
let port: number;
beforeAll(async () => {
  ({ app, port } = await start());
});
afterAll(() => app.close());

afterEach(closeClients);

async function say(text: string): Promise<RawClient> {
  const client = new RawClient(port);
  client.socket.write(text);
  await client.ended;
  return client;
}

const json = 'Host: x\r\nAuthorization: good\r\nContent-Type: application/json\r\n';

describe('malformed HTTP is answered in the common shape of failures, and closed', () => {
  it.each<[string, string, number, string]>([
    ['text', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['a method that HTTP does not have', 'FETCH /v1/open HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['another version', 'GET /v1/open HTTP/7.0\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['a header without a colon', 'GET /v1/open HTTP/1.1\r\nHost x\r\n\r\n', 400, 'malformed_request'],
    [
      'a control character in a header',
      'GET /v1/open HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n',
      400,
      'malformed_request',
    ],
    ['a URL of 20 kB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'uri_too_long'],
    [
      'headers of 20 kB',
      `GET /v1/open HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'many headers',
      `GET /v1/open HTTP/1.1\r\nHost: x\r\n${'Abcdefgh: ijklmnop\r\n'.repeat(5_000)}\r\n`,
      431,
      'headers_too_large',
    ],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    [
      'an expectation',
      `POST /v1/echo HTTP/1.1\r\n${json}Expect: miracles\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'malformed_request',
    ],
  ])('%s', async (_what, text, code, type) => {
    const { meta, error, statuses, text: received } = await say(text);
    expect(meta).toMatchObject({ code, type, message: expect.any(String), requestId: expect.any(String) });
    expect(received).toMatch(new RegExp(`^X-Radar-Request-Id: ${meta.requestId}\r$`, 'im'));
    expect(received).toMatch(/Cache-Control: no-store\r\n/i);
    expect(received).toMatch(/X-Content-Type-Options: nosniff\r\n/i);
    expect(statuses).toEqual([code]);
    expect(error).toBeUndefined();
  });

  it('a request without Host', async () => {
    const client = new RawClient(port);
    client.socket.write('GET /v1/open HTTP/1.1\r\n\r\n');
    await client.until(() => client.text.endsWith('}'));
    expect(client.meta).toMatchObject({ code: 400, type: 'malformed_request', message: 'the Host header is missing' });
  });
});

// Node left it out, so the request had no key, and a proxy that adds its header last could not name its client.
it('a header after two thousand others is read', async () => {
  const many = 'a:\r\n'.repeat(2_500);
  const client = await say(`POST /v1/echo HTTP/1.1\r\n${many}${json}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
  expect(client.statuses).toEqual([200]);
});

describe('a request with an ambiguous end is refused', () => {
  it.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['Transfer-Encoding and Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length that is not a number', 'Content-Length: +2\r\n\r\n{}'],
    ['an encoding that is not chunked', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunked that is not last', 'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 2\r\n\r\n{}'],
    ['a folded header', 'Content-Length:\r\n 2\r\n\r\n{}'],
    ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'],
  ])('%s', async (_what, rest) => {
    const smuggled = 'GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n';
    const { statuses, meta } = await say(`POST /v1/echo HTTP/1.1\r\n${json}${rest}${smuggled}`);
    expect(statuses).toEqual([400]);
    expect(meta).toMatchObject({ code: 400, type: 'malformed_request' });
  });
});

describe('headers that are too slow', () => {
  const headersTimeoutMs = 400;

  it.each([
    ['half a request line', 'GET /v1/op'],
    ['half of the headers', 'GET /v1/open HTTP/1.1\r\nHost: x\r\nAccept: te'],
    ['a second request that stops halfway', 'GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/op'],
  ])('%s: the connection is answered 408 and ends', async (_what, text) => {
    const impatient = await start({ ...bounds, headersTimeoutMs });
    try {
      const startedAt = performance.now();
      const client = new RawClient(impatient.port);
      client.socket.write(text);
      await client.ended;
      const tookMs = performance.now() - startedAt;
      expect(client.statuses.at(-1)).toBe(408);
      expect(client.meta).toMatchObject({
        code: 408,
        type: 'request_timeout',
        message: 'the headers did not arrive in time',
      });
      expect(client.error).toBeUndefined();
      expect(tookMs).toBeGreaterThanOrEqual(headersTimeoutMs * 0.9);
    } finally {
      await impatient.app.close();
    }
  });

  it('a silent connection ends without an answer', async () => {
    const impatient = await start({ ...bounds, headersTimeoutMs });
    try {
      const client = new RawClient(impatient.port);
      await client.ended;
      expect(client.text).toBe('');
      expect(client.error).toBeUndefined();
    } finally {
      await impatient.app.close();
    }
  });

  it('a request that comes in pieces within the time is answered', async () => {
    const impatient = await start({ ...bounds, headersTimeoutMs: 60_000 });
    try {
      const client = new RawClient(impatient.port);
      for (const piece of ['GET /v1/op', 'en HTTP/1.1\r\nHo', 'st: x\r\n\r', '\n']) {
        client.socket.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await client.until(() => client.statuses.length === 1);
      expect(client.statuses).toEqual([200]);
    } finally {
      closeClients();
      await impatient.app.close();
    }
  });
});

describe('pipelining', () => {
  /** Pipelines bytes behind a slow request, in one write. The request ends once it has reached its handler. */
  async function sayBehindSlow(rest: string): Promise<RawClient> {
    release = undefined;
    const client = new RawClient(port);
    client.socket.write(`GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n${rest}`);
    await client.until(() => release !== undefined);
    release!();
    return client;
  }

  it('requests are answered in their order', async () => {
    const client = await sayBehindSlow(
      ['nothing', 'open'].map((name) => `GET /v1/${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    );
    await client.until(() => client.statuses.length === 3);
    expect(client.statuses).toEqual([200, 404, 200]);
  });

  it('malformed HTTP is answered after the earlier requests', async () => {
    const client = await sayBehindSlow('nonsense\r\n\r\n');
    await client.ended;
    const { statuses, meta, error } = client;
    expect(statuses).toEqual([200, 400]);
    expect(meta.type).toBe('malformed_request');
    expect(error).toBeUndefined();
  });
});

describe('bodies', () => {
  it.each([
    ['{"a": 1,}', 'the body is not valid JSON: column 9: expected a key in double quotes, not "}"'],
    ['{\n  "a": tru\n}', 'the body is not valid JSON: line 2, column 8: expected a value, not "t"'],
  ])('%j is refused with its position', async (body, message) => {
    const client = new RawClient(port);
    client.socket.write(`POST /v1/echo HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`);
    await client.until(() => client.text.includes('"meta"'));
    expect(client.meta).toMatchObject({ code: 400, type: 'invalid_body', message });
  });

  it('that is too large is answered while it is being sent, and the connection is not reset', async () => {
    const client = new RawClient(port);
    client.socket.write(`POST /v1/echo HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let count = 0; count < 64; count++) client.socket.write(chunk);
    client.socket.write('0\r\n\r\nGET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.until(() => client.statuses.length === 2);
    expect(client.statuses).toEqual([413, 200]);
    expect(client.error).toBeUndefined();
  });

  it('that stops is answered 408', async () => {
    const client = await say(`POST /v1/echo HTTP/1.1\r\n${json}Content-Length: 100\r\n\r\n{"a":`);
    expect(client.meta).toMatchObject({ code: 408, type: 'request_timeout' });
    expect(client.error).toBeUndefined();
  });

  it('that trickles is answered 408', async () => {
    const client = new RawClient(port);
    client.socket.write(`POST /v1/echo HTTP/1.1\r\n${json}Content-Length: 2000\r\n\r\n"`);
    const trickle = setInterval(() => client.socket.write('x'), 50);
    await client.ended;
    clearInterval(trickle);
    expect(client.statuses).toEqual([408]);
  });

  it('that takes longer than the time limit, but not slower than the least rate, is read to its end', async () => {
    const bodyTimeoutMs = 1_000;
    // Only what the test lets pass is time, however busy the machine is.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const steadily = await start({ ...bounds, bodyTimeoutMs, minBodyBytesPerSecond: 150 });
    const connected = once(steadily.app.server, 'connection') as Promise<[Socket]>;
    try {
      const steady = new RawClient(steadily.port);
      const [received] = await connected;
      const body = `"${'x'.repeat(2_248)}"`;
      const head = `POST /v1/echo HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n`;
      steady.socket.write(head);
      for (let at = 0; at < body.length; at += 150) {
        steady.socket.write(body.slice(at, at + 150));
        await until(() => received.bytesRead === head.length + Math.min(at + 150, body.length));
        vi.advanceTimersByTime(bodyTimeoutMs);
      }
      await steady.until(() => steady.statuses.length === 1);
      expect(steady.statuses).toEqual([200]);
    } finally {
      closeClients();
      await steadily.app.close();
    }
  });

  it('300 slow bodies without a key used to stay open: each is answered 401 and ends', async () => {
    // A busy server answers some of them later than a slow body is ended.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const roomy = await start({ ...bounds, maxConnections: 1_000, maxConnectionsPerAddress: 0 });
    try {
      const clients = Array.from({ length: 300 }, () => new RawClient(roomy.port));
      for (const { socket } of clients)
        socket.write('POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx');
      await Promise.all(clients.map((client) => client.until(() => client.statuses[0] === 401)));
      vi.advanceTimersByTime(2 * bounds.bodyTimeoutMs);
      await Promise.all(clients.map(({ ended }) => ended));
    } finally {
      closeClients();
      await roomy.app.close();
    }
  });
});

describe('connections beyond the limit', () => {
  it('are answered 503 and closed, and those before them are served', async () => {
    const first = Array.from({ length: bounds.maxConnectionsPerAddress }, () => new RawClient(port));
    await Promise.all(first.map((client) => client.until(() => !client.socket.connecting)));
    for (const { socket } of first) socket.write('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all(first.map((client) => client.until(() => client.statuses.length === 1)));
    const late = await say('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(late.meta).toMatchObject({
      code: 503,
      type: 'overloaded',
      message: 'this address has reached its limit of 8 connections',
    });
    expect(late.text).toContain('Retry-After: 1');
    expect(late.error).toBeUndefined();
    first[0]!.socket.destroy();
    const freed = async () => (await say('GET /v1/open HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).statuses[0];
    let status = await freed();
    // Until the server has heard that the first is gone.
    for (let attempt = 0; status === 503 && attempt < 100; attempt++) status = await freed();
    expect(status).toBe(200);
  });

  it('count a /64 of IPv6 as one address (fault: one client could take all connections)', async () => {
    const dual = await start();
    const addresses = Array.from({ length: 9 }, (_, index) => `2001:db8:0:1::${index}`).concat('2001:db8:0:2::1');
    const clients: RawClient[] = [];
    // A loopback has one address of IPv6.
    dual.app.server.prependListener('connection', (socket: Socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: addresses[clients.length - 1] });
    });
    try {
      for (const _ of addresses) {
        const client = new RawClient(dual.port);
        clients.push(client);
        client.socket.write('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
        await client.until(() => client.statuses.length > 0);
      }
      expect(clients.map(({ statuses }) => statuses[0])).toEqual([...Array(8).fill(200), 503, 200]);
    } finally {
      closeClients();
      await dual.app.close();
    }
  });

  it('do not count by address for a proxy', async () => {
    const behind = await start({ ...bounds, proxies: networks('127.0.0.0/8') });
    try {
      const clients = Array.from({ length: 14 }, () => new RawClient(behind.port));
      for (const { socket } of clients) socket.write('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
      await Promise.all(clients.map((client) => client.until(() => client.statuses.length > 0)));
      expect(clients.map(({ statuses }) => statuses[0]).sort()).toEqual([...Array(12).fill(200), 503, 503]);
    } finally {
      closeClients();
      await behind.app.close();
    }
  });
});

describe('a server that stops', () => {
  const getOpen = 'GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n';

  it('answers a request on a connection that was idle, and closes it', async () => {
    const stopping = await start();
    const client = new RawClient(stopping.port);
    client.socket.write(getOpen);
    await client.until(() => client.statuses.length === 1);
    await stopping.app.connections.stopAccepting();
    const drained = stopping.app.connections.drained({ silentMs: 120_000, timeoutMs: 120_000 });
    client.socket.write(getOpen);
    await client.ended;
    expect(client.statuses).toEqual([200, 200]);
    expect(client.text).toMatch(/^Connection: close\r$/m);
    expect(client.error).toBeUndefined();
    expect(await drained).toBe(0);
    await stopping.app.close();
  });

  it('a request after the end of an idle connection was handled, though no answer could be sent', async () => {
    const stopping = await start();
    const client = new RawClient(stopping.port, { allowHalfOpen: true });
    client.socket.write(getOpen);
    await client.until(() => client.statuses.length === 1);
    const sawEnd = new Promise((resolve) => client.socket.once('end', resolve));
    await stopping.app.connections.stopAccepting();
    const drained = stopping.app.connections.drained({ silentMs: 0, timeoutMs: 120_000 });
    await sawEnd;
    const before = handled;
    client.socket.end(getOpen);
    await client.ended;
    expect(await drained).toBe(0);
    expect(client.statuses).toEqual([200]);
    expect(handled).toBe(before);
    await stopping.app.close();
  });
});
