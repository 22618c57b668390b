/** Tests requests, responses and the use of connections with well-behaved receivers. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../testing/until.js';
import {
  get,
  networks,
  openClient,
  openReceiver,
  outcome,
  post,
  secret,
  truncated,
  urlOf,
  whole,
} from './testing/clients.js';
import { type Answering, answer } from './testing/receiver.js';

const ok: Answering = (socket) => void socket.write(answer('200 OK', [], 'ok'));

describe('the request', () => {
  test('has what the caller specifies and little else', async () => {
    const receiver = await openReceiver(ok);
    await openClient().send({
      method: 'POST',
      url: `${urlOf(receiver)}?a=b%20c&d#part`,
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
      body: Buffer.from('{}'),
    });
    expect(receiver.requests).toEqual([
      [
        'POST /hook?a=b%20c&d HTTP/1.1',
        `host: 127.0.0.1:${receiver.port}`,
        'connection: keep-alive',
        'user-agent: Fenceline',
        'content-type: application/json',
        'webhook-id: msg_1',
        'content-length: 2',
        '',
        '{}',
      ].join('\r\n'),
    ]);
  });

  test('has no cookie of an earlier response', async () => {
    const receiver = await openReceiver((socket) => void socket.write(answer('200 OK', ['set-cookie: a=b; Path=/'])));
    const client = openClient();
    for (let index = 0; index < 2; index++) await client.send(get(urlOf(receiver)));
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]).not.toMatch(/cookie/i);
  });

  test('ignores proxies of the environment', async () => {
    const receiver = await openReceiver(ok);
    const proxy = await openReceiver(ok);
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
    expect(proxy.sockets).toHaveLength(0);
  });

  test('fails with an invalid header', async () => {
    const receiver = await openReceiver(ok);
    expect(await outcome(openClient().send(get(urlOf(receiver), { 'x-note': `a\r\n${secret}: b` })))).toMatchObject({
      failure: 'connection_failed',
    });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('the response', () => {
  test.each([
    ['204 No Content', 204],
    ['404 Not Found', 404],
    ['410 Gone', 410],
    ['500 Internal Server Error', 500],
  ])('%s', async (line, status) => {
    const receiver = await openReceiver((socket) => void socket.write(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`));
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(whole(status, ''));
  });

  test('has lower-case headers, with repeated ones joined', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write(
        answer('429 Too Many Requests', ['Retry-After: 120', 'X-Note: one', 'x-note: two', '__proto__: three']),
      );
    });
    expect(await openClient().send(get(urlOf(receiver)))).toEqual({
      kind: 'answered',
      status: 429,
      headers: { 'retry-after': '120', 'x-note': 'one, two', 'content-length': '0' },
      body: Buffer.alloc(0),
      truncated: false,
      durationMs: expect.any(Number),
    });
  });

  test('is the one after 103 Early Hints', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      socket.write(answer('200 OK', [], 'ok'));
    });
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
  });

  test('is not decompressed', async () => {
    const compressed = gzipSync('0'.repeat(100_000));
    const receiver = await openReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${compressed.length}\r\n\r\n`);
      socket.write(compressed);
    });
    expect(await openClient().send(get(urlOf(receiver)))).toMatchObject({ body: compressed, truncated: false });
  });

  test('may end with the connection', async () => {
    const receiver = await openReceiver((socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'));
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(whole(200, 'until the end'));
  });

  test('is not followed when it is a redirect', async () => {
    const target = await openReceiver(ok);
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = await openReceiver((socket) => {
        socket.write(answer(`${status} Elsewhere`, [`location: ${urlOf(target)}`]));
      });
      expect(await outcome(openClient().send(post(urlOf(receiver), 'body')))).toEqual(whole(status, ''));
    }
    expect(target.sockets).toHaveLength(0);
  });
});

describe('the signal of a request', () => {
  // A sync ended by the stop of its node waited for a slow file, and the process was killed.
  test('ends it before the response, and its connection', async () => {
    const receiver = await openReceiver(() => undefined);
    const end = new AbortController();
    const result = outcome(openClient().send({ ...get(urlOf(receiver)), signal: end.signal }));
    await until(() => receiver.requests.length === 1);
    end.abort();
    expect(await result).toEqual({ failure: 'connection_failed', message: 'the request was ended early' });
    await until(() => receiver.sockets[0]?.destroyed === true);
  });

  test('ends it during the body, which is truncated', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart');
    });
    const end = new AbortController();
    const write = async () => {
      end.abort();
      return true;
    };
    const request = { ...get(urlOf(receiver)), signal: end.signal, receiver: () => ({ write }) };
    // Without limits on the time, which would end it as well.
    const client = openClient({ timeoutMs: 2 ** 30, bodyTimeoutMs: 2 ** 30 });
    expect(await outcome(client.send(request))).toEqual(truncated(200, ''));
    await until(() => receiver.sockets[0]?.destroyed === true);
  });

  test('ends one that waits for a connection, and one that has not begun', async () => {
    const receiver = await openReceiver(() => undefined);
    const client = openClient({ maxConnectionsPerOrigin: 1 });
    const first = client.send(get(urlOf(receiver)));
    const end = new AbortController();
    const send = () => outcome(client.send({ ...get(urlOf(receiver)), signal: end.signal }));
    const waiting = send();
    await until(() => receiver.requests.length === 1);
    end.abort();
    const ended = { failure: 'connection_failed', message: 'the request was ended early' };
    expect(await Promise.all([waiting, send()])).toEqual([ended, ended]);
    await client.close();
    expect(await outcome(first)).toMatchObject({ failure: 'connection_failed' });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('connections', () => {
  test('are reused', async () => {
    const receiver = await openReceiver(ok);
    const client = openClient();
    for (let index = 0; index < 5; index++)
      expect(await outcome(client.send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
    expect(receiver.sockets).toHaveLength(1);
  });

  test('are not reused when the receiver closes them', async () => {
    const receiver = await openReceiver((socket) => void socket.end(answer('200 OK', ['connection: close'], 'ok')));
    const client = openClient();
    for (let index = 0; index < 3; index++)
      expect(await outcome(client.send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
    expect(receiver.sockets).toHaveLength(3);
  });

  test('are replaced once the receiver has closed them', async () => {
    const receiver = await openReceiver(ok);
    const client = openClient();
    await client.send(get(urlOf(receiver)));
    const [socket] = receiver.sockets;
    const closed = once(socket!, 'close');
    socket!.end();
    await closed;
    expect(await outcome(client.send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
    expect(receiver.sockets).toHaveLength(2);
  });

  test('a receiver that closes silently after each response gets every request', async () => {
    const receiver = await openReceiver((socket) => void socket.end(answer('200 OK', [], 'ok')));
    const client = openClient();
    for (let index = 0; index < 200; index++) {
      expect(await outcome(client.send(post(urlOf(receiver), String(index))))).toEqual(whole(200, 'ok'));
    }
  });

  test('a request on a broken kept-alive connection is sent once more only', async () => {
    const receiver = await openReceiver((socket, request) => {
      if (request.endsWith('good')) socket.write(answer('200 OK'));
      else socket.resetAndDestroy();
    });
    const client = openClient();
    expect(await outcome(client.send(post(urlOf(receiver), 'good')))).toEqual(whole(200, ''));
    expect(await outcome(client.send(post(urlOf(receiver), 'bad')))).toMatchObject({ failure: 'connection_failed' });
    expect(await outcome(client.send(post(urlOf(receiver), 'bad')))).toMatchObject({ failure: 'connection_failed' });
    expect(receiver.requests.map((request) => request.split('\r\n\r\n')[1])).toEqual(['good', 'bad', 'bad', 'bad']);
    expect(receiver.sockets).toHaveLength(3);
  });

  test('are bounded per origin, and waiting requests are sent in turn', async () => {
    const held: Socket[] = [];
    const receiver = await openReceiver((socket) => {
      held.push(socket);
      if (held.length === 3) for (const each of held.splice(0)) each.write(answer('200 OK', [], 'ok'));
    });
    const client = openClient({ maxConnectionsPerOrigin: 3 });
    const sent = Array.from({ length: 48 }, () => outcome(client.send(get(urlOf(receiver)))));
    expect(await Promise.all(sent)).toEqual(sent.map(() => whole(200, 'ok')));
    expect(receiver.sockets).toHaveLength(3);
  });

  test('of one failing origin do not affect another', async () => {
    const silent = await openReceiver(() => undefined);
    const receiver = await openReceiver(ok);
    const client = openClient({ maxConnectionsPerOrigin: 1 });
    const inVain = client.send(get(urlOf(silent)));
    await until(() => silent.requests.length === 1);
    expect(await outcome(client.send(get(urlOf(receiver))))).toEqual(whole(200, 'ok'));
    await client.close();
    expect(await outcome(inVain)).toMatchObject({ failure: 'connection_failed' });
  });

  // Regression: it was sent when the one before it timed out some milliseconds earlier.
  test('a request that has waited too long is timed_out and never sent', async () => {
    const receiver = await openReceiver(() => undefined);
    const timeoutMs = 2_000;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const client = openClient({ maxConnectionsPerOrigin: 1, timeoutMs });
    const first = outcome(client.send(post(urlOf(receiver), 'first')));
    vi.advanceTimersByTime(10);
    const second = outcome(client.send(post(urlOf(receiver), 'second')));
    await until(() => receiver.requests.length === 1);
    vi.advanceTimersByTime(timeoutMs - 10);
    expect(await first).toEqual({ failure: 'timed_out', message: 'connected, but no response arrived in time' });
    // The connection of the first is closed, and the second could use another one.
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
    vi.advanceTimersByTime(10);
    expect(await second).toMatchObject({ failure: 'timed_out' });
    expect(receiver.requests.filter((request) => request.endsWith('second'))).toHaveLength(0);
  });
});

describe('closing', () => {
  test('fails requests in flight, waiting ones and later ones', async () => {
    const receiver = await openReceiver(() => undefined);
    const client = openClient({ maxConnectionsPerOrigin: 1 });
    const sent = [get(urlOf(receiver)), get(urlOf(receiver))].map((request) => outcome(client.send(request)));
    await until(() => receiver.requests.length === 1);
    await client.close();
    const later = outcome(client.send(get(urlOf(receiver))));
    for (const result of [...sent, later]) expect(await result).toMatchObject({ failure: 'connection_failed' });
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
    expect(receiver.requests).toHaveLength(1);
  });

  test('closes a connection that is being established', async () => {
    const lookup = vi.fn();
    const client = openClient({ lookup });
    const sent = outcome(client.send(get('http://receiver.test/')));
    expect(lookup).toHaveBeenCalledOnce();
    await client.close();
    expect(await sent).toMatchObject({ failure: 'connection_failed' });
  });

  test('closes idle connections, also to an allowed name', async () => {
    const receiver = await openReceiver(ok);
    const client = openClient({
      allowedNetworks: networks('127.0.0.0/8'),
      lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    await client.send(get(urlOf(receiver, 'receiver.test')));
    await client.close();
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
    expect(receiver.sockets).toHaveLength(1);
  });
});
