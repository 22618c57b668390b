import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import { type DeviceApi, north, startDeviceApi } from '../../testing/device-api.js';
import { until } from '../../testing/until.js';
import type { IngestDependencies } from '../dependencies.js';
import { batchRecords } from './upload.js';

type Append = IngestDependencies['log']['append'];

const line = (deviceId: string, fields: object = {}) => JSON.stringify({ deviceId, ...north(0), ...fields });
const linesOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => line(`${prefix}-${index}`)).join('\n');

async function listen(ingest: DeviceApi): Promise<string> {
  if (!ingest.app.server.listening) await ingest.app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(ingest.app.server.address() as AddressInfo).port}`;
}

const send = (ingest: DeviceApi, payload: string | Buffer | Readable, headers: Record<string, string> = {}) =>
  ingest.app.inject({
    method: 'POST',
    url: '/v1/locations',
    payload,
    headers: { authorization: ingest.secret, 'content-type': 'application/x-ndjson', ...headers },
  });

describe('a bulk upload', () => {
  let ingest: DeviceApi;
  beforeAll(async () => {
    ingest = await startDeviceApi();
  });
  afterAll(() => ingest.close());

  it('is durable and evaluated, line by line', async () => {
    const answer = await send(ingest, [line('a', { ip: '192.0.2.1' }), '', '  ', line('a', north(500))].join('\r\n'));
    expect(answer.json()).toEqual({ meta: { code: 200 }, accepted: 2, rejected: 0, rejections: [] });
    await ingest.node.drained();
    const outcomes = (await ingest.node.outcomes()).filter(({ location }) => location.deviceId === 'a');
    expect(outcomes.map(({ events }) => events.length)).toEqual([1, 1]);
    expect(outcomes[0]?.location).toMatchObject({ ip: '192.0.2.1', details: null, replyTo: null, environment: 'test' });
  });

  // The first location was lost: its line was no JSON.
  it('may begin with a byte order mark', async () => {
    const answer = await send(ingest, `\ufeff${line('marked')}\n${line('marked')}\n`);
    expect(answer.json()).toMatchObject({ accepted: 2, rejected: 0 });
  });

  it('lists the first hundred bad lines and accepts the rest', async () => {
    const bad = ['{"deviceId":', '[]', line('b', { latitude: 91 }), line('b', { accuracy: null }), 'x'.repeat(70_000)];
    const answer = await send(ingest, [...bad, line('b'), ...Array(200).fill('{}')].join('\n'));
    const { accepted, rejected, rejections } = answer.json();
    expect({ accepted, rejected }).toEqual({ accepted: 1, rejected: 205 });
    expect(rejections).toHaveLength(100);
    expect(rejections.slice(0, 6)).toEqual([
      { line: 1, param: 'line', message: 'line: must be a JSON object: column 13: expected a value, not the end' },
      { line: 2, param: 'line', message: 'line: must be a JSON object' },
      { line: 3, param: 'latitude', message: 'latitude: must be a number from -90 to 90' },
      { line: 4, param: 'accuracy', message: 'accuracy: is required' },
      { line: 5, param: 'line', message: 'line: must have at most 64 KiB' },
      { line: 7, param: 'deviceId', message: 'deviceId: is required' },
    ]);
  });

  it.each([
    ['gzip', 'c', 'application/x-ndjson', (text: string) => gzipSync(text)],
    ['no packing', 'd', 'application/json; charset=utf-8', (text: string) => text],
    ['no packing', 'e', 'text/plain', (text: string) => `${text}\n`],
  ])('comes with %s, as %s of type %s', async (packing, prefix, type, pack) => {
    const body = pack(linesOf(prefix, batchRecords + 1));
    const encoding: Record<string, string> = packing === 'gzip' ? { 'content-encoding': 'gzip' } : {};
    const answer = await send(ingest, body, { 'content-type': type, ...encoding });
    expect(answer.json()).toMatchObject({ accepted: batchRecords + 1, rejected: 0 });
  });

  it.each([
    ['application/xml', {}, 415],
    ['application/x-ndjson', { 'content-encoding': 'br' }, 415],
    ['application/avro', {}, 400],
    ['application/x-ndjson', { 'content-encoding': 'gzip' }, 400],
    ['application/x-ndjson', { authorization: 'wrong' }, 401],
  ])('of type %s with %j is %i', async (type, headers, status) => {
    const answer = await send(ingest, linesOf('f', 3), { 'content-type': type, ...headers });
    expect(answer.statusCode).toBe(status);
  });

  it('requires a secret key', async () => {
    expect((await send(ingest, linesOf('g', 1), { authorization: ingest.publishable })).statusCode).toBe(403);
  });

  it('reports how much was durable when its compression is broken', async () => {
    const packed = gzipSync(Buffer.from(linesOf('h', 20_000)));
    const answer = await send(ingest, packed.subarray(0, packed.length - 100), { 'content-encoding': 'gzip' });
    expect(answer.statusCode).toBe(400);
    const { meta, accepted } = answer.json();
    expect(meta.type).toBe('invalid_body');
    expect(accepted).toBeGreaterThan(10_000);
    expect(accepted).toBeLessThan(20_000);
  });

  it('that is broken is answered while it is being sent, and its connection is not reset', async () => {
    const address = await listen(ingest);
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const sender = request(`${address}/v1/locations`, {
        method: 'POST',
        headers: { authorization: ingest.secret, 'content-type': 'application/avro' },
      });
      sender.on('error', reject);
      sender.on('response', (response) => {
        let text = '';
        response.on('data', (data) => {
          text += data;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      for (let count = 0; count < 128; count++) sender.write(Buffer.alloc(65_536, 'no avro at all '));
      sender.end();
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ meta: { type: 'invalid_body' }, accepted: 0 });
  });

  it('keeps the locations that arrived before its sender disconnected', async () => {
    const address = await listen(ingest);
    const before = ingest.counted['locations_accepted_total/bulk'] ?? 0;
    const sender = request(`${address}/v1/locations`, {
      method: 'POST',
      headers: { authorization: ingest.secret, 'content-type': 'application/x-ndjson' },
    });
    sender.on('error', () => {});
    sender.write(`${linesOf('i', 2_500)}\n{"deviceId":"cut`);
    const outcomes = async () =>
      (await ingest.node.outcomes()).filter(({ location }) => location.deviceId.startsWith('i-'));
    await until(async () => (await outcomes()).length >= batchRecords);
    sender.destroy();
    await until(() => (ingest.counted['locations_accepted_total/bulk'] ?? 0) === before + 2_500);
    await ingest.node.drained();
    expect(await outcomes()).toHaveLength(2_500);
  });
});

describe('a log that is slow', () => {
  it('slows the sender down: no more than a few batches are read ahead', async () => {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let appends = 0;
    const append: Append = async () => {
      appends += 1;
      await released;
    };
    const ingest = await startDeviceApi({ stage: false, log: (log) => ({ partitionOf: log.partitionOf, append }) });
    try {
      let produced = 0;
      const chunk = Buffer.from(`${linesOf('x', 500)}\n`);
      const body = Readable.from(
        (function* () {
          for (; produced < 200; produced++) yield chunk;
        })(),
      );
      const answer = send(ingest, body);
      await until(() => appends === 1);
      // By then everything available is read.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(appends).toBe(1);
      expect(produced).toBeLessThan(100);
      release();
      expect((await answer).json()).toMatchObject({ accepted: 100_000, rejected: 0 });
    } finally {
      release();
      await ingest.close();
    }
  });

  it('refuses new uploads while it is full', async () => {
    const appends: (() => void)[] = [];
    const append: Append = () => new Promise<void>((resolve) => appends.push(resolve));
    const ingest = await startDeviceApi({
      stage: false,
      bounds: { maxInFlightRecords: 1 },
      log: (log) => ({ partitionOf: log.partitionOf, append }),
    });
    try {
      const first = send(ingest, linesOf('x', 1));
      await until(() => appends.length === 1);
      const second = await send(ingest, linesOf('y', 1));
      expect(second.statusCode).toBe(503);
      expect(second.headers['retry-after']).toBe('1');
      appends[0]!();
      expect((await first).json().accepted).toBe(1);
    } finally {
      await ingest.close();
    }
  });

  it.each(['overloaded', 'unavailable'] as const)('reports how much was durable when it is %s', async (code) => {
    let appends = 0;
    const append: Append = async () => {
      appends += 1;
      if (appends > 2) throw new PortError(code, 'the log is behind');
    };
    const ingest = await startDeviceApi({ stage: false, log: (log) => ({ partitionOf: log.partitionOf, append }) });
    try {
      const answer = await send(ingest, linesOf('x', 10 * batchRecords));
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({ meta: { type: code }, accepted: 2 * batchRecords });
      expect(ingest.counted['ingest_overloaded_total/bulk']).toBe(1);
    } finally {
      await ingest.close();
    }
  });
});

// An upload that never ended was accepted for as long as it lasted, whatever had become of its key. What had arrived
// before its end was appended after the revocation.
it('ends when its key is revoked, and reports what is durable', async () => {
  let appends = 0;
  const append: Append = async () => {
    appends += 1;
  };
  const log = ({ partitionOf }: IngestDependencies['log']) => ({ partitionOf, append });
  const ingest = await startDeviceApi({ stage: false, authorityCheckMs: 20, log });
  try {
    const sender = request(`${await listen(ingest)}/v1/locations`, {
      method: 'POST',
      headers: { authorization: ingest.secret, 'content-type': 'application/x-ndjson' },
    });
    sender.on('error', () => {});
    const answered = once(sender, 'response');
    sender.write(`${linesOf('x', batchRecords + 10)}\n`);
    await until(() => appends === 1);
    const [project] = ingest.node.readModel.projects();
    await ingest.node.configure({ kind: 'project', record: { ...project!, keys: [] } });
    const [response] = await answered;
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ meta: { code: 401, type: 'unauthorized' }, accepted: batchRecords });
    sender.destroy();
  } finally {
    await ingest.close();
  }
});

it('waits for the end of an upload before the server closes', async () => {
  const ingest = await startDeviceApi({ stage: false });
  const address = await listen(ingest);
  const sender = request(`${address}/v1/locations`, {
    method: 'POST',
    headers: { authorization: ingest.secret, 'content-type': 'application/x-ndjson' },
  });
  sender.write(`${linesOf('x', 10)}\n`);
  await until(
    () => new Promise<boolean>((resolve) => ingest.app.server.getConnections((_, count) => resolve(count > 0))),
  );
  const closed = ingest.close();
  sender.end(linesOf('y', 10));
  const [response] = await once(sender, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  expect(JSON.parse(text)).toMatchObject({ accepted: 20 });
  await closed;
});

describe('an upload that waits for evaluation', () => {
  /** Starts an upload of a batch and ten more locations, and resolves when it waits. */
  async function waitingUpload() {
    let waits = 0;
    const paceBulk: IngestDependencies['paceBulk'] = async (signal) => {
      waits += 1;
      if (!signal.aborted) await once(signal, 'abort');
      throw signal.reason;
    };
    const ingest = await startDeviceApi({ stage: false, paceBulk });
    const sender = request(`${await listen(ingest)}/v1/locations`, {
      method: 'POST',
      headers: { authorization: ingest.secret, 'content-type': 'application/x-ndjson' },
    });
    sender.on('error', () => {});
    sender.write(`${linesOf('x', batchRecords + 10)}\n`);
    await until(() => waits === 1);
    return { ingest, sender };
  }

  // It waited for a backlog that only shrinks while the server runs, and then its connection was cut off.
  it('ends when the server closes, and reports what is durable', async () => {
    const { ingest, sender } = await waitingUpload();
    const answered = once(sender, 'response');
    const closed = ingest.close();
    const [response] = await answered;
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(response.statusCode).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ meta: { type: 'unavailable' }, accepted: batchRecords });
    sender.destroy();
    await closed;
  });

  it('ends when its sender disconnects, and keeps what had arrived', async () => {
    const { ingest, sender } = await waitingUpload();
    sender.destroy();
    await until(() => ingest.counted['locations_accepted_total/bulk'] === batchRecords + 10);
    await ingest.close();
  });
});
