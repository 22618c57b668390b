/** Reads files from correct and from faulty servers. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OutboundOptions } from '../../outbound/client.js';
import { networks, openClient, openReceiver } from '../../outbound/testing/clients.js';
import { type Answering, answer } from '../../outbound/testing/receiver.js';
import type { SyncSeenFile } from '../../schemas/json/sync.js';
import { type Download, download } from './download.js';

const file = 'description,type\nA shop,circle\n';
const maxBytes = 100_000;

async function read(
  url: string,
  {
    seen,
    client = {},
    admitWrite,
  }: { seen?: SyncSeenFile; client?: Partial<OutboundOptions>; admitWrite?: () => void } = {},
): Promise<Download & { readonly content?: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-download-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'file');
  const parts = { client: openClient(client), admitWrite };
  const result = await download(parts, { name: url, url }, seen, { path, maxBytes });
  if (existsSync(path)) expect(statSync(path).size).toBeLessThanOrEqual(maxBytes);
  return result.kind === 'staged' ? { ...result, content: readFileSync(path, 'utf8') } : result;
}

/** Answers every request on the path in the same way. */
async function serverThat(answering: Answering) {
  const receiver = await openReceiver(answering);
  return { receiver, url: `http://127.0.0.1:${receiver.port}/fences.csv` };
}

const serving =
  (...headers: string[]): Answering =>
  (socket) =>
    void socket.write(answer('200 OK', headers, file));

describe('a file', () => {
  test('is on disk as it was served, with what tells that it changed', async () => {
    const { url } = await serverThat(serving('ETag: "v1"', 'Last-Modified: Sun, 17 May 2026 02:00:00 GMT'));
    expect(await read(url)).toMatchObject({
      kind: 'staged',
      content: file,
      bytes: file.length,
      seen: { name: url, etag: '"v1"', lastModified: 'Sun, 17 May 2026 02:00:00 GMT' },
    });
  });

  test('of several megabytes arrives in pieces', async () => {
    const large = Buffer.alloc(5 * 2 ** 20, 'x');
    const { url } = await serverThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${large.length}\r\n\r\n`);
      socket.write(large);
    });
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-download-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'file');
    const result = await download({ client: openClient() }, { name: url, url }, undefined, { path, maxBytes: 2 ** 30 });
    expect(result).toMatchObject({ kind: 'staged', bytes: large.length });
    expect(readFileSync(path).equals(large)).toBe(true);
  });

  test('is decompressed when the server compressed it', async () => {
    const packed = gzipSync(file);
    const { url } = await serverThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
      socket.write(packed);
    });
    expect(await read(url)).toMatchObject({ kind: 'staged', content: file });
  });
});

describe('an unchanged file', () => {
  const seen = (url: string, fields: Partial<SyncSeenFile>): SyncSeenFile => ({
    name: url,
    etag: null,
    lastModified: null,
    sha256: 'other',
    ...fields,
  });

  test('is not read when the server knows its ETag or date', async () => {
    const { receiver, url } = await serverThat((socket) => void socket.write('HTTP/1.1 304 Not Modified\r\n\r\n'));
    const lastModified = 'Sun, 17 May 2026 02:00:00 GMT';
    expect(await read(url, { seen: seen(url, { etag: '"v1"', lastModified }) })).toEqual({ kind: 'unchanged' });
    expect(receiver.requests[0]).toMatch(/^if-none-match: "v1"\r?$/im);
    expect(receiver.requests[0]).toMatch(/^if-modified-since: Sun, 17 May 2026 02:00:00 GMT\r?$/im);
  });

  // Servers answer If-None-Match: * with 304 if there is any file, so changes were never imported.
  test('regression: is not asked for by the ETag * of a broken server', async () => {
    const { receiver, url } = await serverThat(serving('ETag: *'));
    const first = await read(url);
    if (first.kind !== 'staged') throw new Error(first.kind);
    await read(url, { seen: { ...first.seen, sha256: 'other' } });
    expect(receiver.requests[1]).toMatch(/^GET /);
    expect(receiver.requests[1]).not.toMatch(/if-none-match/i);
  });

  test('is recognised by its content when the server knows neither', async () => {
    const { url } = await serverThat(serving());
    const first = await read(url);
    if (first.kind !== 'staged') throw new Error(first.kind);
    expect(await read(url, { seen: first.seen })).toEqual({ kind: 'unchanged' });
  });

  test('is a failure when nobody asked whether it changed', async () => {
    const { url } = await serverThat((socket) => void socket.write('HTTP/1.1 304 Not Modified\r\n\r\n'));
    expect(await read(url)).toMatchObject({ kind: 'failed' });
    // A file without ETag and date counted as unchanged every night.
    const message = 'the server answered 304 Not Modified';
    expect(await read(url, { seen: seen(url, {}) })).toMatchObject({ kind: 'failed', message });
  });
});

describe('redirects', () => {
  test('are followed', async () => {
    const { url } = await serverThat((socket, request) => {
      if (request.startsWith('GET /fences.csv')) socket.write(answer('302 Found', ['Location: /moved?x=1']));
      else socket.write(answer('200 OK', [], file));
    });
    expect(await read(url)).toMatchObject({ kind: 'staged', content: file, seen: { name: url } });
  });

  test('without end are given up', async () => {
    const { receiver, url } = await serverThat(
      (socket) => void socket.write(answer('301 Moved', ['Location: /again'])),
    );
    expect(await read(url)).toMatchObject({ kind: 'failed', message: 'more than 5 redirects', isTemporary: false });
    expect(receiver.requests).toHaveLength(6);
  });

  test.each([
    'http://127.0.0.2/x',
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0x7f000002/',
  ])('to the private address %s are refused', async (location) => {
    const { url } = await serverThat((socket) => void socket.write(answer('302 Found', [`Location: ${location}`])));
    const result = await read(url);
    expect(result).toMatchObject({ kind: 'failed', isTemporary: false });
    expect(result).toHaveProperty('message', expect.stringContaining('reserved'));
  });

  test('to another scheme are refused', async () => {
    const { url } = await serverThat(
      (socket) => void socket.write(answer('302 Found', ['Location: file:///etc/passwd'])),
    );
    expect(await read(url)).toMatchObject({ kind: 'failed' });
  });
});

test('a private address is refused unless the operator allows its network', async () => {
  const { receiver, url } = await serverThat(serving());
  expect(await read(url, { client: { allowedNetworks: networks() } })).toMatchObject({
    kind: 'failed',
    isTemporary: false,
  });
  expect(receiver.sockets).toHaveLength(0);
});

describe('a server that misbehaves', () => {
  test.each([
    ['500 Internal Server Error', true],
    ['503 Service Unavailable', true],
    ['404 Not Found', false],
    ['403 Forbidden', false],
    ['204 No Content', false],
    ['206 Partial Content', false],
  ])('with status %s gives no file', async (status, isTemporary) => {
    const { url } = await serverThat(
      (socket) => void socket.write(answer(status, [], status.startsWith('204') ? '' : 'no')),
    );
    expect(await read(url)).toEqual({ kind: 'failed', message: `the server answered ${status}`, isTemporary });
  });

  test('by closing before the promised length gives no file', async () => {
    const { url } = await serverThat((socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${file}`));
    expect(await read(url)).toMatchObject({
      kind: 'failed',
      isTemporary: true,
      message: expect.stringContaining('ended early'),
    });
  });

  test('by closing between two chunks gives no file', async () => {
    const { url } = await serverThat((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`),
    );
    expect(await read(url)).toMatchObject({ kind: 'failed', isTemporary: true });
  });

  test('by sending without end is stopped at the limit', async () => {
    const { receiver, url } = await serverThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(16_384)));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    const result = await read(url);
    expect(result).toMatchObject({
      kind: 'failed',
      isTemporary: false,
      message: expect.stringContaining('sync.maxBytes'),
    });
    await expect.poll(() => receiver.sockets[0]?.destroyed).toBe(true);
  });

  test('by a trickle is stopped at the time limit', async () => {
    const { url } = await serverThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await read(url, { client: { bodyTimeoutMs: 200 } })).toMatchObject({
      kind: 'failed',
      isTemporary: true,
      message: expect.stringContaining('time limit'),
    });
  });

  test('by never answering is given up', async () => {
    const { url } = await serverThat(() => undefined);
    expect(await read(url, { client: { timeoutMs: 200 } })).toMatchObject({ kind: 'failed', isTemporary: true });
  });

  test('with a gzip bomb is stopped at the limit of decompressed bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));
    expect(bomb.length).toBeLessThan(maxBytes);
    const { url } = await serverThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(await read(url)).toMatchObject({ kind: 'failed', message: expect.stringContaining('sync.maxBytes') });
  });

  test.each([
    ['half a gzip file', gzipSync(file).subarray(0, 20)],
    ['no gzip file', Buffer.from(file)],
  ])('by calling %s compressed gives no file', async (_, body) => {
    const { url } = await serverThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    expect(await read(url)).toMatchObject({ kind: 'failed', message: 'the compressed file is broken' });
  });

  test('with another compression is refused', async () => {
    const { url } = await serverThat(serving('Content-Encoding: br'));
    expect(await read(url)).toMatchObject({ kind: 'failed', message: expect.stringContaining('br is not supported') });
  });

  // The message is stored with the run, and mailed.
  test('regression: with kilobytes as its compression has them cut in the message', async () => {
    const { url } = await serverThat(serving(`Content-Encoding: ${'x'.repeat(9_000)}`));
    const result = await read(url);
    expect(result.kind === 'failed' && result.message.length).toBeLessThan(200);
  });
});

test('a nearly full disk stops the file', async () => {
  const { url } = await serverThat(serving());
  const admitWrite = () => {
    throw new Error('the disk is nearly full');
  };
  await expect(read(url, { admitWrite })).rejects.toThrow('the disk is nearly full');
});
