/**
 * Tests receivers that send too much, too slowly, too little or something else: bounded responses, and named failures.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../testing/until.js';
import { certificate } from './testing/certificate.js';
import { get, openClient, openReceiver, outcome, post, truncated, urlOf, whole } from './testing/clients.js';
import { answer } from './testing/receiver.js';

/** Writes the text one byte at a time, repeatedly. */
function drip(socket: Socket, text: string): void {
  let index = 0;
  const timer = setInterval(() => socket.write(text[index++ % text.length]!), 5);
  socket.once('close', () => clearInterval(timer));
}

/** Writes the chunk until the other side closes. */
function flood(socket: Socket, chunk: Buffer | string): void {
  const writeOn = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', writeOn);
  writeOn();
}

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await new Promise(setImmediate);
}

const chunked = 'transfer-encoding: chunked';

/** A limit that passes in virtual time. */
const limitMs = 1_000;

/**
 * Stops the time of clients. The returned function lets it pass once the condition holds, until the request has a
 * result. So a busy machine may take as long as it needs until then.
 */
function stopTime(): (result: Promise<unknown>, begins: () => boolean) => Promise<unknown> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return async (result, begins) => {
    let isSettled = false;
    void result.then(() => {
      isSettled = true;
    });
    await until(begins);
    // More often than a receiver drips: a limit that its bytes put off would never pass.
    await until(
      () => {
        vi.advanceTimersByTime(limitMs / 100);
        return isSettled;
      },
      { pollEveryMs: 5 },
    );
    return result;
  };
}

describe('a slow receiver', () => {
  test.each([
    ['silence', () => undefined],
    [
      'headers that drip and never end',
      (socket: Socket) => drip(socket, `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(1_000)}`),
    ],
    ['103 without end', (socket: Socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('%s is timed_out', async (_, answering) => {
    const receiver = await openReceiver(answering);
    const passTime = stopTime();
    const result = outcome(openClient({ timeoutMs: limitMs }).send(get(urlOf(receiver))));
    expect(await passTime(result, () => receiver.requests.length === 1)).toEqual({
      failure: 'timed_out',
      message: 'connected, but no response arrived in time',
    });
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test.each([
    ["the body's", { bodyTimeoutMs: limitMs }],
    ["the whole exchange's", { timeoutMs: limitMs }],
  ])('a slow body is cut at %s time limit', async (_, bounds) => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegins');
      drip(socket, '.');
    });
    const passTime = stopTime();
    const receiverOf = vi.fn(() => undefined);
    const result = outcome(openClient(bounds).send({ ...get(urlOf(receiver)), receiver: receiverOf }));
    expect(await passTime(result, () => receiverOf.mock.calls.length === 1)).toEqual({
      status: 200,
      body: expect.stringMatching(/^begins\.*$/),
      truncated: true,
    });
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test('that reads nothing is timed_out', async () => {
    const receiver = await openReceiver((socket) => void socket.pause());
    const request = { ...post(urlOf(receiver), ''), body: Buffer.alloc(50_000_000) };
    expect(await outcome(openClient({ timeoutMs: 500 }).send(request))).toMatchObject({ failure: 'timed_out' });
  });
});

describe('a large response', () => {
  test('of 10 GB is read only slightly beyond the bound', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n');
      flood(socket, Buffer.alloc(65_536, '0'));
    });
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(truncated(200, '0'.repeat(1_024)));
    const [socket] = receiver.sockets;
    await until(() => socket!.destroyed);
    // Capacity of the buffers of both systems and of the reading side.
    expect(socket!.bytesWritten).toBeLessThan(32 * 1_024 * 1_024);
  });

  test('in endless chunks is cut', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      flood(socket, '1\r\n0\r\n'.repeat(1_000));
    });
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(truncated(200, '0'.repeat(1_024)));
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test.each([
    [1_023, false],
    [1_024, false],
    [1_025, true],
  ])('of %i bytes is kept up to 1,024', async (length, isTruncated) => {
    const receiver = await openReceiver((socket) => void socket.write(answer('200 OK', [], 'x'.repeat(length))));
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual({
      status: 200,
      body: 'x'.repeat(Math.min(length, 1_024)),
      truncated: isTruncated,
    });
  });

  test('of some megabytes is complete', async () => {
    const file = 'line of a file\n'.repeat(200_000);
    const receiver = await openReceiver((socket) => void socket.write(answer('200 OK', [], file)));
    expect(await outcome(openClient({ maxBodyBytes: file.length }).send(get(urlOf(receiver))))).toEqual(
      whole(200, file),
    );
  });

  test.each([
    ['one that never ends', 'x-a: ', 'a'.repeat(1_000)],
    ['many', '', `x-a: ${'a'.repeat(50)}\r\n`],
  ])('headers: %s', async (_, start, chunk) => {
    const receiver = await openReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${start}`);
      flood(socket, chunk);
    });
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual({
      failure: 'invalid_answer',
      message: 'the headers of the response are too large',
    });
  });

  // Each was read at full speed until the time limit: a receiver could keep the thread of all webhooks busy.
  test.each([
    ['103', '', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'.repeat(2_000), undefined],
    ['empty lines', '', '\r\n'.repeat(30_000), undefined],
    ['a reason phrase', 'HTTP/1.1 200 ', 'x'.repeat(65_536), undefined],
    ['an extension of a chunk', `HTTP/1.1 200 OK\r\n${chunked}\r\n\r\n1;`, 'x'.repeat(65_536), 200],
    ['zeros before the length of a chunk', `HTTP/1.1 200 OK\r\n${chunked}\r\n\r\n`, '0'.repeat(65_536), 200],
  ])('of %s without end is cut soon', async (_, start, chunk, status) => {
    const receiver = await openReceiver((socket) => {
      socket.write(start);
      flood(socket, chunk);
    });
    const result = await outcome(openClient().send(get(urlOf(receiver))));
    const message = 'the response has too many bytes around its body';
    expect(result).toEqual(status === undefined ? { failure: 'invalid_answer', message } : truncated(status, ''));
    const [socket] = receiver.sockets;
    await until(() => socket!.destroyed);
    expect(socket!.bytesWritten).toBeLessThan(32 * 1_024 * 1_024);
  });

  test('in chunks of one byte is complete', async () => {
    const file = 'x'.repeat(300_000);
    const receiver = await openReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${chunked}\r\n\r\n`);
      socket.write(`${'1\r\nx\r\n'.repeat(file.length)}0\r\n\r\n`);
    });
    expect(await outcome(openClient({ maxBodyBytes: file.length }).send(get(urlOf(receiver))))).toEqual(
      whole(200, file),
    );
  });

  /** undici's pools reconnect as soon as a request is aborted, even with nothing to send. */
  test('regression: a response that was cut is not followed by another connection', async () => {
    const receiver = await openReceiver((socket) => void socket.write(answer('200 OK', [], 'x'.repeat(2_000))));
    const client = openClient();
    for (let index = 0; index < 3; index++) await client.send(get(urlOf(receiver)));
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
    // Connections are accepted in order: once this one is accepted, all earlier ones are.
    const probe = connect(receiver.port, '127.0.0.1');
    onTestFinished(() => void probe.destroy());
    await once(probe, 'connect');
    await until(() => receiver.sockets.some((socket) => socket.remotePort === probe.localPort));
    expect(receiver.sockets).toHaveLength(4);
  });
});

describe('a broken connection', () => {
  const lost = { failure: 'connection_failed' };

  test('is refused by the port', async () => {
    const receiver = await openReceiver(() => undefined);
    const url = urlOf(receiver);
    await receiver.close();
    expect(await outcome(openClient().send(get(url)))).toEqual({
      failure: 'connection_failed',
      message: 'no connection could be established (ECONNREFUSED)',
    });
  });

  test('is reset at once', async () => {
    const server = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const client = openClient();
    for (let index = 0; index < 20; index++) {
      expect(await outcome(client.send(get(urlOf(server.address() as AddressInfo))))).toMatchObject(lost);
    }
  });

  test.each([
    ['reset before an answer', (socket: Socket) => socket.resetAndDestroy()],
    ['closed before an answer', (socket: Socket) => socket.end()],
    ['closed within the status line', (socket: Socket) => socket.end('HTTP/1.1 2')],
    ['closed within the headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
  ])('%s', async (_, answering) => {
    const receiver = await openReceiver(answering);
    expect(await outcome(openClient().send(post(urlOf(receiver), 'body')))).toMatchObject(lost);
    expect(receiver.requests).toHaveLength(1);
  });

  test.each([
    ['closed within the body', 'content-length: 100', (socket: Socket) => socket.end()],
    ['closed within the chunks', 'transfer-encoding: chunked', (socket: Socket) => socket.end()],
    [
      'closed within a body that ends with the connection',
      'connection: close\r\ncontent-length: 100',
      (socket: Socket) => socket.end(),
    ],
    ['reset within the body', 'content-length: 100', (socket: Socket) => socket.resetAndDestroy()],
    // It was taken for the end of the body, so half of a file was imported as all of it.
    ['reset within a body without a length', 'x-a: b', (socket: Socket) => socket.resetAndDestroy()],
  ])('%s: is answered with the partial body', async (_, header, breakOff) => {
    const part = header.includes('chunked') ? '4\r\npart\r\n' : 'part';
    const receiver = await openReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${part}`);
      // A reset discards unread data, so it must follow after the client, in the same event loop, has read.
      void turns(3).then(() => breakOff(socket));
    });
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toEqual(truncated(200, 'part'));
  });
});

// undici throws from an event of the socket if it has paused it itself, which ended the process.
describe('regression: a connection that ends while a receiver takes a piece', () => {
  const framings = [
    'x-a: b',
    'connection: close\r\ncontent-length: 4',
    'connection: close\r\ntransfer-encoding: chunked',
  ];

  test.each(
    framings.flatMap((framing) => [
      [framing, 'closed', (socket: Socket) => void socket.end(), true],
      [framing, 'reset', (socket: Socket) => socket.resetAndDestroy(), !framing.includes('x-a')],
    ]) as [string, string, (socket: Socket) => void, boolean][],
  )('%j, %s', async (framing, _, breakOff, isWhole) => {
    const body = framing.includes('chunked') ? '4\r\npart\r\n0\r\n\r\n' : 'part';
    const receiver = await openReceiver((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}`));
    const pieces: string[] = [];
    const taking = {
      async write(piece: Buffer) {
        const [socket] = receiver.sockets;
        breakOff(socket!);
        await until(() => socket!.destroyed || socket!.writableFinished);
        await turns(20);
        pieces.push(piece.toString());
        return true;
      },
    };
    const result = await openClient().send({ ...get(urlOf(receiver)), receiver: () => taking });
    expect(result).toMatchObject({ kind: 'answered', status: 200, truncated: !isWhole });
    expect(pieces.join('')).toBe('part');
  });

  test('pieces are taken in order, one at a time, and none is lost', async () => {
    const body = Buffer.from(Array.from({ length: 200_000 }, (_, index) => `${index},`).join(''));
    const receiver = await openReceiver(
      (socket) => void socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), body])),
    );
    const pieces: Buffer[] = [];
    let open = 0;
    const taking = {
      async write(piece: Buffer) {
        expect(++open).toBe(1);
        await turns(2);
        pieces.push(Buffer.from(piece));
        open--;
        return true;
      },
    };
    const result = await openClient().send({ ...get(urlOf(receiver)), receiver: () => taking });
    expect(result).toMatchObject({ kind: 'answered', truncated: false });
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
  });
});

describe('not HTTP', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80'],
    ['HTTP/0.9', '<html>hello</html>'],
    ['a request', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a line break in a header name', 'HTTP/1.1 200 OK\r\nx a: b\r\n\r\n'],
    ['zero bytes in a header', 'HTTP/1.1 200 OK\r\nx-a: \0\r\n\r\n'],
    ['100 unasked', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['101 unasked', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const receiver = await openReceiver((socket) => void socket.write(bytes, 'latin1'));
    expect(await outcome(openClient().send(get(urlOf(receiver))))).toMatchObject({ failure: 'invalid_answer' });
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test('data after a response is not taken for the next response', async () => {
    const receiver = await openReceiver((socket, request) => {
      const surplus = request.endsWith('first') ? answer('200 OK', [], 'smuggled') : '';
      socket.write(answer('200 OK', [], request.slice(-6)) + surplus);
    });
    const client = openClient();
    expect(await outcome(client.send(post(urlOf(receiver), ' first')))).toEqual(whole(200, ' first'));
    expect(await outcome(client.send(post(urlOf(receiver), 'second')))).toEqual(whole(200, 'second'));
  });
});

describe('TLS', () => {
  const toName =
    (address = '127.0.0.1') =>
    (
      _name: string,
      _options: object,
      callback: (error: null, addresses: { address: string; family: number }[]) => void,
    ) =>
      callback(null, [{ address, family: 4 }]);
  const trusting = { ca: certificate, lookup: toName() };
  const secureUrl = (port: number, host = 'receiver.test') => `https://${host}:${port}/hook`;

  test('accepts a trusted certificate for the name', async () => {
    const receiver = await openReceiver((socket) => void socket.write(answer('200 OK', [], 'ok')), { secure: true });
    const client = openClient(trusting);
    for (let index = 0; index < 3; index++) {
      expect(await outcome(client.send(get(secureUrl(receiver.port))))).toEqual(whole(200, 'ok'));
    }
    expect(receiver.sockets).toHaveLength(1);
  });

  test.each([
    [
      'a certificate that nobody vouches for',
      'receiver.test',
      { ca: undefined },
      /self-signed certificate.* \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    ],
    ['a certificate for another name', 'other.test', {}, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['a certificate for a name, not for the address', '127.0.0.1', {}, /ERR_TLS_CERT_ALTNAME_INVALID/],
  ])('%s is tls_failed, and no request is sent', async (_, host, options, message) => {
    const receiver = await openReceiver(() => undefined, { secure: true });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { ca, ...rest } = { ...trusting, ...options };
    const client = openClient({ ...rest, ...(ca !== undefined && { ca }) });
    expect(await outcome(client.send(get(secureUrl(receiver.port, host))))).toEqual({
      failure: 'tls_failed',
      message: expect.stringMatching(message),
    });
    expect(receiver.requests).toHaveLength(0);
  });

  test.each([
    ['plain HTTP', (socket: Socket) => socket.write(answer('400 Bad Request'))],
    ['reset within the handshake', (socket: Socket) => socket.resetAndDestroy()],
    ['closed within the handshake', (socket: Socket) => socket.end()],
  ])('%s on a port for TLS is tls_failed', async (_, answering) => {
    const receiver = await openReceiver(answering);
    expect(await outcome(openClient(trusting).send(get(secureUrl(receiver.port))))).toMatchObject({
      failure: 'tls_failed',
    });
  });

  test('a handshake without a response is timed_out', async () => {
    const receiver = await openReceiver(() => undefined);
    expect(await outcome(openClient({ ...trusting, timeoutMs: 300 }).send(get(secureUrl(receiver.port))))).toEqual({
      failure: 'timed_out',
      message: 'no connection was established in time',
    });
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });
});
