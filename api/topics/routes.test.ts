import avro from 'avsc';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../../pipeline/ports.js';
import { codecs, frameBytes } from '../../schemas/codecs.js';
import type { Event } from '../../schemas/records.js';
import { exampleEventBeacon } from '../../schemas/testing/examples.js';
import { asFirstVersion, encodeFirstVersion } from '../../schemas/testing/older-events.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { eventJson } from '../../schemas/wire/user.js';
import { until } from '../../testing/until.js';
import { encodePosition } from '../stream/position.js';
import { type Subscribers, startSubscribers } from '../stream/testing/server.js';
import { eventOf, publish } from '../stream/testing/topic.js';
import { adminApiKey, type Body } from '../testing/fixtures.js';
import { readTopic, startPartitions } from './reading.js';

let server: Subscribers;
beforeAll(async () => {
  server = await startSubscribers({ maxFollowersPerKey: 2 });
});
afterAll(() => server.close());

const partitions = () => server.api.log.partitions('events');
const ownEvents = (count: number): Event[] =>
  Array.from({ length: count }, (_, device) => eventOf(server.api.project.record._id, { device }));

async function get(path: string, key = adminApiKey): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${server.address}${path}`, { headers: { authorization: key } });
  return { status: response.status, body: await response.json() };
}

const read = async (query: string, key?: string): Promise<Body> => {
  const { status, body } = await get(`/v1/topics/events?${query}`, key);
  expect(status).toBe(200);
  return body;
};

const latest = async (): Promise<string> => (await read('from=latest')).next;

/** Reads page by page until everything is read. */
async function readOn(
  from: string,
  query = '',
  key?: string,
): Promise<{ records: Body[]; next: string; pages: number }> {
  const records: Body[] = [];
  let next = from;
  for (let pages = 1; ; pages++) {
    const body = await read(`from=${next}${query}`, key);
    records.push(...body.records);
    next = body.next;
    if (body.partitions.every((place: Body) => place.next === place.end)) return { records, next, pages };
  }
}

const idsOf = (records: readonly Body[]): string[] => records.map(({ event }) => event._id);

describe('a record', () => {
  test('is what a Kafka client gets, with its decoded event', async () => {
    const from = await latest();
    const [event] = ownEvents(1);
    await publish(server.api.log, [event!]);
    const { topic, records, partitions: places } = await read(`from=${from}`);
    expect(topic).toBe('events');
    const key = `${event!.project}/test/${event!.user?.deviceId}`;
    const partition = server.api.log.partitionOf('events', key);
    const { offset, timestamp, value } = records[0];
    expect(records).toEqual([{ partition, offset, key, timestamp, schemaId: 9, value, event: eventJson(event!) }]);
    expect(offset).toBe(places[partition].end - 1);
    expect(Math.abs(Date.now() - timestamp)).toBeLessThan(60_000);
    expect({ ...codecs.event.decode(Buffer.from(value, 'base64')) }.id).toBe(event!.id);
  });

  test('is decoded with the returned self-contained schema', async () => {
    const { body } = await get('/v1/topics/events/schema');
    expect(body).toMatchObject({ topic: 'events', schemaId: 9, schema: { name: 'fenceline.Event' } });
    const type = avro.Type.forSchema(body.schema, { wrapUnions: false });
    const from = await latest();
    const [event] = ownEvents(1);
    await publish(server.api.log, [event!]);
    const [record] = (await read(`from=${from}`)).records;
    const frame = Buffer.from(record.value, 'base64');
    expect(frame.readUInt32BE(1)).toBe(body.schemaId);
    expect(JSON.parse(JSON.stringify(type.fromBuffer(frame.subarray(frameBytes))))).toEqual(event);
  });

  // A consumer asks for the schema once, and it gets the newest alone.
  test('of an earlier release has the newest schema', async () => {
    const from = await latest();
    const event = { ...ownEvents(1)[0]!, beacon: exampleEventBeacon() };
    const key = `${event.project}/test/${event.user?.deviceId}`;
    await server.api.log.append('events', [{ key, value: encodeFirstVersion(event) }]);
    const { records } = await read(`from=${from}`);
    expect(records).toMatchObject([{ schemaId: 9, event: eventJson(asFirstVersion(event)) }]);
    const frame = Buffer.from(records[0].value, 'base64');
    expect(frame).toEqual(codecs.event.encode(asFirstVersion(event)));
  });

  test('that is not an event is returned as well', async () => {
    const from = await latest();
    const key = `${server.api.project.record._id}/test/broken`;
    await server.api.log.append('events', [{ key, value: Buffer.from('not') }]);
    const { records } = await read(`from=${from}`, server.api.secret);
    expect(records).toMatchObject([{ key, schemaId: null, value: Buffer.from('not').toString('base64'), event: null }]);
  });
});

describe('paging', () => {
  test('returns every record once, in partition order, for any limit', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(6), fc.boolean()), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (drawn, limit) => {
          const [own, other] = [await server.api.newProject('Own'), await server.api.newProject('Other')];
          const from = await latest();
          const events = drawn.map(([device, isOwn]) => eventOf((isOwn ? own : other).record._id, { device }));
          await publish(server.api.log, events);
          for (const [key, seen] of [
            [adminApiKey, events],
            [own.key('test', 'secret'), events.filter(({ project }) => project === own.record._id)],
            [own.key('live', 'secret'), []],
          ] as const) {
            const { records, pages } = await readOn(from, `&limit=${limit}`, key);
            expect(pages).toBeLessThanOrEqual(Math.ceil((seen.length + 1) / limit) + 1);
            expect(idsOf(records).toSorted()).toEqual(seen.map(({ id }) => id).toSorted());
            for (let partition = 0; partition < partitions(); partition++) {
              const read = records.filter((record) => record.partition === partition);
              const ids = new Set(idsOf(read));
              expect(idsOf(read)).toEqual(seen.filter(({ id }) => ids.has(id)).map(({ id }) => id));
              expect(read.map(({ offset }) => offset)).toEqual(
                read.map(({ offset }) => offset).toSorted((a, b) => a - b),
              );
            }
          }
        },
      ),
      { numRuns: propertyRuns(15) },
    ));

  test('returns a bounded number of bytes at once, and all large records in the end', async () => {
    const from = await latest();
    const key = `${server.api.project.record._id}/test/large`;
    const count = 12;
    for (let i = 0; i < count; i++)
      await server.api.log.append('events', [{ key, value: Buffer.alloc(900_000, `${i} `) }]);
    const bytesOf = (records: readonly Body[]): number =>
      records.reduce((sum, { value }) => sum + Buffer.from(value, 'base64').length, 0);
    expect(bytesOf((await read(`from=${from}&limit=1000`)).records)).toBeLessThan(4 * 2 ** 20 + 900_000);
    const { records } = await readOn(from, '&limit=1000');
    expect(records.map(({ value }) => Buffer.from(value, 'base64').toString('latin1', 0, 3))).toEqual(
      Array.from({ length: count }, (_, i) => `${i} ${i}`.slice(0, 3)),
    );
  });

  test('reads one partition by its offsets', async () => {
    const events = ownEvents(40);
    const before = (await get('/v1/topics')).body.topics[0].partitions;
    await publish(server.api.log, events);
    const ids: string[] = [];
    for (const { partition, end } of before) {
      const { records, next } = await readOn(`${end}`, `&limit=7&partition=${partition}`);
      expect(next).toMatch(/^\d+$/);
      expect(records.every((record) => record.partition === partition)).toBe(true);
      ids.push(...idsOf(records));
    }
    expect(ids.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  test('bounds the scan of records of other projects', async () => {
    const from = await latest();
    const other = await server.api.newProject('Large');
    const many = Array.from({ length: 12_000 }, (_, device) => eventOf(other.record._id, { device: device % 50 }));
    await publish(server.api.log, many);
    const [own] = ownEvents(1);
    await publish(server.api.log, [own!]);
    const { records, pages } = await readOn(from, '', server.api.secret);
    expect(idsOf(records)).toEqual([own!.id]);
    expect(pages).toBe(2);
  });
});

// A read of a client that had left went on through ten thousand records of others.
test('a reading ends when its client has left', async () => {
  const other = await server.api.newProject('Many');
  const many = Array.from({ length: 3_000 }, (_, device) => eventOf(other.record._id, { device: device % 50 }));
  await publish(server.api.log, many);
  const client = new AbortController();
  let reads = 0;
  const log = {
    bounds: server.api.log.bounds,
    read: (...asked: Parameters<Log['read']>) => {
      reads += 1;
      if (reads === 2) client.abort();
      return server.api.log.read(...asked);
    },
  } as Log;
  const start = await startPartitions(log, new Array(partitions()).fill('earliest'), null);
  const reader = { scope: 'none', limit: 100, signal: client.signal };
  const { records } = await readTopic(log, (_, work) => work(), start, reader);
  expect([records.length, reads]).toEqual([0, 2]);
});

describe('waiting', () => {
  test('ends as soon as there is a record', async () => {
    const from = await latest();
    const waiting = read(`from=${from}&waitMs=30000`, server.api.secret);
    const other = await server.api.newProject('Elsewhere');
    await publish(server.api.log, [eventOf(other.record._id)]);
    const [own] = ownEvents(1);
    await publish(server.api.log, [own!]);
    expect(idsOf((await waiting).records)).toEqual([own!.id]);
  });

  // Each poll that waited read the records of all projects as they came.
  test('reads nothing while there are records of other projects only', async () => {
    const from = await latest();
    const reads = vi.spyOn(server.api.log, 'read');
    onTestFinished(() => reads.mockRestore());
    const waiting = read(`from=${from}&waitMs=30000`, server.api.secret);
    const other = await server.api.newProject('Busy');
    for (let count = 0; count < 50; count++) await publish(server.api.log, [eventOf(other.record._id)]);
    const [own] = ownEvents(1);
    await publish(server.api.log, [own!]);
    expect(idsOf((await waiting).records)).toEqual([own!.id]);
    expect(reads.mock.calls.length).toBeLessThan(5);
  });

  test('ends without a record, and has advanced past records of others', async () => {
    const from = await latest();
    const other = await server.api.newProject('Elsewhere');
    await publish(server.api.log, [eventOf(other.record._id)]);
    const { records, next, partitions: places } = await read(`from=${from}&waitMs=50`, server.api.secret);
    expect(records).toEqual([]);
    expect(next).not.toBe(from);
    expect(next).toBe(encodePosition(places.map(({ end }: Body) => end)));
  });

  test('counts as a follower until it ends', async () => {
    const from = await latest();
    const wait = (waitMs: number) => get(`/v1/topics/events?from=${from}&waitMs=${waitMs}`, server.api.secret);
    const waiting = [wait(30_000), wait(30_000)];
    await until(async () => (await wait(10)).status === 429);
    await publish(server.api.log, ownEvents(1));
    expect((await Promise.all(waiting)).map(({ body }) => body.records.length)).toEqual([1, 1]);
    expect((await get(`/v1/topics/events?from=latest&waitMs=10`, server.api.secret)).status).toBe(200);
  });
});

// A poll that waited answered with events that happened after its key was revoked.
test('a poll that waits ends when its key is replaced, and answers no later event', async () => {
  const quick = await startSubscribers({ authorityCheckMs: 20 });
  onTestFinished(quick.close);
  const { call, project, secret, log } = quick.api;
  const poll = async (key: string) => {
    const url = `${quick.address}/v1/topics/events?from=latest&waitMs=30000`;
    const response = await fetch(url, { headers: { authorization: key } });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const revoked = poll(secret);
  const other = poll(project.key('live', 'secret'));
  const body = { environment: 'test', kind: 'secret' };
  await call('POST', `/v1/projects/${project.record._id}/keys/rotate`, { key: adminApiKey, body });
  expect(await revoked).toMatchObject({ status: 401, body: { meta: { type: 'unauthorized' } } });
  const event = { ...eventOf(project.record._id), environment: 'live' as const };
  await publish(log, [event]);
  expect(idsOf((await other).body.records)).toEqual([event.id]);
});

describe('records that are no longer held', () => {
  test('are reported, and the oldest held records follow', async () => {
    const log = server.api.log as typeof server.api.log & { sweep(nowMs: number): Promise<void> };
    const from = await latest();
    await publish(log, ownEvents(20));
    await log.sweep(Date.now() + 31 * 24 * 60 * 60 * 1_000);
    const events = ownEvents(5);
    await publish(log, events);
    const { records, partitions: places } = await read(`from=${from}`);
    expect(idsOf(records).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(places.reduce((sum: number, { missing = 0 }: Body) => sum + missing, 0)).toBe(20);
    const [first] = places.filter(({ first }: Body) => first > 0);
    const one = await read(`from=0&partition=${first.partition}`);
    expect(one.partitions).toMatchObject([{ missing: first.first }]);
    const oldest = await read('from=earliest');
    expect(idsOf(oldest.records).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(oldest.partitions.some((place: Body) => 'missing' in place)).toBe(false);
  });
});

test('lists topics with their bounds', async () => {
  const { body } = await get('/v1/topics', server.api.secret);
  const { next } = await read('from=latest', server.api.secret);
  expect(body.topics).toMatchObject([{ topic: 'events', schemaId: 9 }]);
  expect(body.topics[0].partitions).toHaveLength(partitions());
  expect(encodePosition(body.topics[0].partitions.map(({ end }: Body) => end))).toBe(next);
});

test.each([
  ['from=yesterday', 'from'],
  ['from=-1', 'from'],
  [`from=${encodePosition([1])}`, 'from'],
  ['partition=99', 'partition'],
  ['partition=0&from=AQAAAAAAAAAA', 'from'],
  ['limit=1001', 'limit'],
  ['waitMs=30001', 'waitMs'],
])('%s is refused', async (query, param) => {
  expect(await get(`/v1/topics/events?${query}`)).toMatchObject({ status: 400, body: { meta: { param } } });
});

test.each(['/v1/topics', '/v1/topics/events', '/v1/topics/events/schema'])(
  '%s is for secret keys and the administrator',
  async (path) => {
    const publishable = server.api.project.key('test', 'publishable');
    const statuses = await Promise.all(
      ['', publishable, server.api.secret, adminApiKey].map(async (key) => (await get(path, key)).status),
    );
    expect(statuses).toEqual([401, 403, 200, 200]);
  },
);
