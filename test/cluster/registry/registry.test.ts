/**
 * Schemas in a real registry: their registration and the meaning of ids, also when the registry is down, returns empty,
 * or has incompatible schemas. Tests that disturb a registry start their own.
 */
import { randomBytes } from 'node:crypto';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import avro from 'avsc';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { RegistryOptions } from '../../../backends/cluster/options.js';
import { Patience } from '../../../backends/cluster/patience.js';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { createKnownIds, type KnownId, type KnownIds } from '../../../backends/cluster/registry/known-ids.js';
import { openWireSchemas } from '../../../backends/cluster/registry/open.js';
import { type SchemaSet, shippedSchemas } from '../../../backends/cluster/registry/shipped-schemas.js';
import type { WireSchemas } from '../../../backends/cluster/registry/wire-schemas.js';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { type Codec, codecs, createCodec } from '../../../schemas/codecs.js';
import { exampleEvent, exampleEventBeacon } from '../../../schemas/testing/examples.js';
import { asFirstVersion } from '../../../schemas/testing/older-events.js';
import { makeCertificates } from '../../../testing/services/certificates.js';
import { type BadNetwork, startProxy } from '../../../testing/services/proxy.js';
import { type RegistryServer, startRegistry, startRegistryFront } from '../../../testing/services/registry.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import type { Json } from '../../support/client.js';
import { freshRedisOptions } from '../redis/fresh-redis.js';

const allTopics = Object.values(topics);
const event = exampleEvent({ id: 'e'.repeat(24) });

/** A new prefix for each test. */
let prefix: string;
let redis: RedisConnection;
let knownIds: KnownIds;
const problems: string[] = [];

beforeEach(async () => {
  prefix = `${randomBytes(6).toString('hex')}.`;
  problems.length = 0;
  redis = await connectRedis(freshRedisOptions([services()!.redis]), () => {});
  onTestFinished(() => redis.close());
  knownIds = createKnownIds(redis);
});

interface Settings {
  readonly schemas?: SchemaSet;
  readonly outageLimitMs?: number;
  readonly patience?: Patience;
  readonly signal?: AbortSignal;
}

const open = (
  registry: RegistryOptions,
  { schemas, patience = new Patience(), ...settings }: Settings = {},
): Promise<WireSchemas> => {
  const onProblem = (problem: string) => void problems.push(problem);
  return openWireSchemas({ registry, knownIds, subjectPrefix: prefix, onProblem, patience, ...settings }, schemas);
};

/** Sends a request to the registry's API. */
async function ask(
  { url }: RegistryOptions,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<Json> {
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.json();
}

/** Registers this many foreign schemas. */
async function occupy(registry: RegistryOptions, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const schema = JSON.stringify({ type: 'record', name: `Stranger${index}`, fields: [] });
    await ask(registry, `/subjects/stranger-${index}/versions`, { schema });
  }
}

const subjectOf = (topic: Topic): string => `${prefix}${topic}-value`;
const idOf = (frame: Buffer): number => frame.readUInt32BE(1);

function wireFrame(
  wire: WireSchemas,
  topic: Topic = topics.events,
  frame: Buffer = codecs.event.encode(event),
): Buffer {
  wire.toWire(topic, frame);
  return frame;
}

/** Reads a frame as an event. */
async function read(wire: WireSchemas, frame: Buffer): Promise<unknown> {
  const copy = Buffer.from(frame);
  await wire.learn(topics.events, [copy]);
  return plain(codecs.event.decode(wire.fromWire(topics.events, copy)));
}

/** Returns only the fields of a decoded record, which is a class instance. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Returns the id with which each topic is written. */
function writeIds(wire: WireSchemas): Record<string, number> {
  return Object.fromEntries(
    allTopics.map((topic) => {
      const frame = Buffer.from([0, 0, 0, 0, shippedSchemas.codecs[topic].schemaId]);
      return [topic, idOf(wireFrame(wire, topic, frame))];
    }),
  );
}

/** Returns the events topic alone, as known by a program that shipped these versions. */
function eventVersions(...schemas: string[]): { schemas: SchemaSet; codec: Codec<unknown> } {
  const type = avro.Type.forSchema(JSON.parse(schemas.at(-1)!), { registry: {}, wrapUnions: false });
  const codec = createCodec<unknown>(type, codecs.event.schemaId);
  const versions = schemas.map((schema, index) => ({ topic: topics.events, name: `event.v${index + 1}`, schema }));
  return { schemas: { codecs: { ...shippedSchemas.codecs, events: codec }, versions }, codec };
}
const eventFirst = shippedSchemas.versions.find(({ name }) => name === 'event.v1')!.schema;
const eventNow = shippedSchemas.versions.findLast(({ topic }) => topic === topics.events)!.schema;
const eventNext = withField({ name: 'mood', type: ['null', 'string'], default: null });
/** Not compatible with the first version: the field has no default. */
const eventBroken = withField({ name: 'weight', type: 'double' });

function withField(field: object): string {
  const schema = JSON.parse(eventNow);
  return JSON.stringify({ ...schema, fields: [...schema.fields, field] });
}

describe('a registry', () => {
  const registry = { url: '' };
  beforeAll(() => {
    registry.url = services()!.registry.url;
  });

  test('has complete schemas under subjects that require compatibility', async () => {
    await open(registry);
    const subjects: string[] = await ask(registry, '/subjects');
    expect(subjects.filter((name) => name.startsWith(prefix)).toSorted()).toEqual(allTopics.map(subjectOf).toSorted());
    for (const topic of allTopics) {
      const versions = shippedSchemas.versions.filter((version) => version.topic === topic);
      expect(await ask(registry, `/subjects/${subjectOf(topic)}/versions`)).toEqual(
        versions.map((_, index) => index + 1),
      );
      const latest = await ask(registry, `/subjects/${subjectOf(topic)}/versions/latest`);
      expect(JSON.parse(latest.schema)).toEqual(JSON.parse(versions.at(-1)!.schema));
      expect(await ask(registry, `/config/${subjectOf(topic)}`)).toEqual({ compatibilityLevel: 'BACKWARD_TRANSITIVE' });
    }
    const { message } = await ask(registry, `/subjects/${subjectOf(topics.events)}/versions`, { schema: eventBroken });
    expect(message).toContain('weight');
  });

  test('lets old and new versions read each other', async () => {
    const old = eventVersions(eventNow);
    const next = eventVersions(eventNow, eventNext);
    const oldNode = await open(registry, { schemas: old.schemas });
    const newNode = await open(registry, { schemas: next.schemas });
    const oldFrame = wireFrame(oldNode, topics.events, old.codec.encode(event));
    const newFrame = wireFrame(newNode, topics.events, next.codec.encode({ ...event, mood: 'good' }));
    expect(idOf(newFrame)).not.toBe(idOf(oldFrame));
    await oldNode.learn(topics.events, [newFrame]);
    await newNode.learn(topics.events, [oldFrame]);
    expect(plain(old.codec.decode(oldNode.fromWire(topics.events, newFrame)))).toEqual(plain(event));
    expect(plain(next.codec.decode(newNode.fromWire(topics.events, oldFrame)))).toEqual(
      plain({ ...event, mood: null }),
    );
  });

  test('lets the first release and this one read events of each other', async () => {
    const first = eventVersions(eventFirst);
    const oldNode = await open(registry, { schemas: first.schemas });
    const newNode = await open(registry);
    const whole = exampleEvent({ id: 'f'.repeat(24), geofence: null, beacon: exampleEventBeacon() });
    const written = first.codec.encode(whole);
    expect(await read(newNode, wireFrame(oldNode, topics.events, Buffer.from(written)))).toEqual(asFirstVersion(whole));
    const newFrame = wireFrame(newNode, topics.events, codecs.event.encode(whole));
    await oldNode.learn(topics.events, [newFrame]);
    expect(oldNode.fromWire(topics.events, newFrame)).toEqual(first.codec.encode(asFirstVersion(whole)));
    // The first release starts again, as after a way back.
    const again = await open(registry, { schemas: first.schemas });
    expect(await read(newNode, wireFrame(again, topics.events, Buffer.from(written)))).toEqual(asFirstVersion(whole));
  });

  test('rejects foreign ids: of another subject, unknown and impossible ones', async () => {
    const wire = await open(registry);
    const body = codecs.event.encode(event).subarray(5);
    const { deliveries } = writeIds(wire);
    const foreign = [deliveries!, 4_000_000, 2 ** 31, 2 ** 32 - 1].map((id) => {
      const frame = Buffer.concat([Buffer.alloc(5), body]);
      frame.writeUInt32BE(id, 1);
      return frame;
    });
    await wire.learn(topics.events, [null, Buffer.from('no frame'), ...foreign]);
    for (const frame of foreign)
      expect(() => codecs.event.decode(wire.fromWire(topics.events, frame))).toThrow('schema id');
    expect(problems).toEqual([]);
  });

  test('works with a standard client library', async () => {
    const wire = await open(registry);
    const library = new SchemaRegistry({ host: registry.url });
    expect(plain(await library.decode(wireFrame(wire)))).toMatchObject({
      id: event.id,
      type: event.type,
      confidence: event.confidence,
    });
  });
});

describe('a registry with outages', () => {
  let registry: RegistryServer;
  let network: BadNetwork;
  let throughNetwork: RegistryOptions;
  beforeAll(async () => {
    registry = await startRegistry();
    const { hostname, port, pathname } = new URL(registry.url);
    network = await startProxy({ host: hostname, port: Number(port) });
    throughNetwork = { url: `http://${network.host}:${network.port}${pathname}` };
  });
  beforeEach(() => network.mend());
  afterAll(async () => {
    await network?.stop();
    await registry?.stop();
  });

  /** Ids of the newest versions, by the order in which versions were shipped. */
  const expectedIds = {
    rejections: 1,
    attempts: 2,
    deliveries: 3,
    'dead-letters': 4,
    events: 11,
    outcomes: 7,
    locations: 8,
    changes: 10,
  };

  test('has every version after a concurrent start, with the same ids whenever it was empty', async () => {
    for (let round = 0; round < 2; round++) {
      if (round > 0) await registry.restart();
      const nodes = await Promise.all(Array.from({ length: 5 }, () => open(registry)));
      for (const wire of nodes) expect(writeIds(wire)).toEqual(expectedIds);
    }
    // A registry that has just started may answer after the time limit of a request.
    expect(problems.filter((problem) => !problem.includes("can't be reached"))).toEqual([]);
  });

  test('is not needed by running nodes, except for unknown ids', async () => {
    const wire = await open(throughNetwork);
    const frame = wireFrame(wire);
    network.cutOff();
    problems.length = 0;
    expect(await read(wire, frame)).toEqual(plain(event));
    // Another node knows this id and has stored it in Redis.
    await knownIds.write([{ subject: subjectOf(topics.events), id: 77, schema: eventNext, givenAtMs: Date.now() }]);
    const { type } = eventVersions(eventNext).codec;
    expect(await read(wire, createCodec(type, 77).encode({ ...event, mood: 'good' }))).toEqual(plain(event));
    expect(problems).toEqual([]);
  });

  test('is retried for an unknown id, up to the limit', async () => {
    const [wire, impatient] = [await open(throughNetwork), await open(throughNetwork, { outageLimitMs: 1_000 })];
    const { type } = eventVersions(eventNext).codec;
    const { id } = await ask(registry, `/subjects/${subjectOf(topics.events)}/versions`, { schema: eventNext });
    const frame = createCodec(type, id).encode({ ...event, mood: 'good' });
    await registry.pause();
    problems.length = 0;
    const reading = read(wire, frame);
    await until(() => problems.length > 0);
    expect(problems).toEqual([expect.stringContaining(`${throughNetwork.url} can't be reached`)]);
    await registry.resume();
    expect(await reading).toEqual(plain(event));
    expect((await knownIds.read()).map((known) => known.id)).toContain(id);

    network.cutOff();
    await expect(read(impatient, createCodec(type, 4_000).encode({ ...event, mood: null }))).rejects.toThrow(
      "can't be reached",
    );
  });

  test('that is down at the start is not needed by nodes that know all ids', async () => {
    const before = await open(throughNetwork);
    network.cutOff();
    problems.length = 0;
    const after = await open(throughNetwork, { outageLimitMs: 500 });
    expect(writeIds(after)).toEqual(expectedIds);
    expect(await read(after, wireFrame(before))).toEqual(plain(event));
    expect(problems).toEqual([
      expect.stringContaining("can't be reached"),
      expect.stringContaining('records are written with the ids that it assigned before'),
    ]);

    // The same holds for a registry that hangs.
    await registry.pause();
    expect(writeIds(await open(registry, { outageLimitMs: 500 }))).toEqual(expectedIds);
    await registry.resume();
  });

  const waitForStart = () => until(() => problems.some((problem) => problem.includes('the start waits for it')));

  // Each start ended after a minute, and so did those that followed it.
  test('that is down at the first start is waited for, until it or another node has the ids', async () => {
    const { schemas } = eventVersions(eventNow);
    network.cutOff();
    const start = open(throughNetwork, { schemas, outageLimitMs: 200 });
    await waitForStart();
    network.mend();
    const wire = await start;
    expect(await read(wire, wireFrame(wire))).toEqual(plain(event));

    network.cutOff();
    problems.length = 0;
    const next = eventVersions(eventNow, eventNext);
    const nextStart = open(throughNetwork, { schemas: next.schemas, outageLimitMs: 200 });
    await waitForStart();
    expect(problems.at(-1)).toMatch(/no id is known for event.v2$/);
    const frame = next.codec.encode({ ...event, mood: 'good' });
    const other = wireFrame(await open(registry, { schemas: next.schemas }), topics.events, Buffer.from(frame));
    expect(idOf(wireFrame(await nextStart, topics.events, frame))).toBe(idOf(other));
  });

  test('that a start waits for does not keep the node from stopping', async () => {
    network.cutOff();
    const ending = new AbortController();
    const start = open(throughNetwork, { outageLimitMs: 200, signal: ending.signal });
    await waitForStart();
    ending.abort();
    await expect(start).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('that lost its data assigns new ids, which old and new nodes both understand', async () => {
    const before = await open(registry);
    await registry.restart();
    await occupy(registry, 20);
    const after = await open(registry);
    const [old, fresh] = [wireFrame(before), wireFrame(after)];
    expect(idOf(fresh)).not.toBe(idOf(old));
    for (const wire of [before, after, await open(registry)]) {
      expect(await read(wire, old)).toEqual(plain(event));
      expect(await read(wire, fresh)).toEqual(plain(event));
    }
  });

  test('that assigns an id to another version keeps a node from starting', async () => {
    const { schemas } = eventVersions(eventNow, eventNext);
    await open(registry, { schemas });
    const before = new Map((await knownIds.read()).map(({ id, schema }) => [id, schema]));
    const [first, second] = [...before.keys()].toSorted((a, b) => a - b) as [number, number];
    expect(before).toEqual(
      new Map([
        [first, eventNow],
        [second, eventNext],
      ]),
    );
    // The first version now gets the id of the second.
    await registry.restart();
    await occupy(registry, second - 1);
    const start = open(registry, { schemas });
    await expect(start).rejects.toThrow(
      `schema id ${second} of subject ${subjectOf(topics.events)} now means another version`,
    );
    // No id that it has assigned since is remembered.
    expect(new Map((await knownIds.read()).map(({ id, schema }) => [id, schema]))).toEqual(before);
  });
});

describe('known ids', () => {
  test.each(['server', 'cluster'])('keep their first meaning: Redis %s', async (kind) => {
    const { redis: server, redisCluster } = services()!;
    const connection = await connectRedis(
      freshRedisOptions(kind === 'server' ? [server] : redisCluster.nodes),
      () => {},
    );
    onTestFinished(() => connection.close());
    const known = createKnownIds(connection);
    expect(await known.read()).toEqual([]);
    const one = { subject: 'a/b-value', id: 7, schema: '"int"', givenAtMs: 1 };
    const other = { subject: 'b-value', id: 7, schema: '"long"', givenAtMs: 2 };
    await known.write([one, other]);
    await known.write([{ ...one, schema: '"long"', givenAtMs: 3 }]);
    expect(new Set(await known.read())).toEqual(new Set([{ ...one, givenAtMs: 3 }, other]));
  });

  test('with another meaning from another node keep a node from starting', async () => {
    const { schemas } = eventVersions(eventNow);
    const { read, write } = knownIds;
    const others = (ids: readonly KnownId[]) => write(ids.map((known) => ({ ...known, schema: eventNext })));
    knownIds = { read, write: async (ids) => others(ids).then(() => write(ids)) };
    const start = open(services()!.registry, { schemas });
    await expect(start).rejects.toThrow(/^schema id \d+ of subject .* now means another version/);
  });
});

describe('an existing subject', () => {
  const registry = { url: '' };
  beforeAll(() => {
    registry.url = services()!.registry.url;
  });

  test('with an incompatible schema is named with the field', async () => {
    const path = `/subjects/${subjectOf(topics.events)}/versions`;
    const { fields, ...rest } = JSON.parse(eventNow);
    const schema = JSON.stringify({
      ...rest,
      fields: fields.filter(({ name }: { name: string }) => name !== 'confidence'),
    });
    await ask(registry, path, { schema });
    await expect(open(registry)).rejects.toThrow(
      new RegExp(`^event.v1 can't be registered: .*${subjectOf(topics.events)}.*confidence`),
    );
    expect(await ask(registry, path)).toEqual([1]);
  });

  test.each([
    ['NONE', 'BACKWARD_TRANSITIVE'],
    ['FORWARD', 'BACKWARD_TRANSITIVE'],
    ['FULL_TRANSITIVE', 'FULL_TRANSITIVE'],
  ])('with compatibility %s has %s afterwards', async (before, after) => {
    const subject = subjectOf(topics.changes);
    await ask(registry, `/subjects/${subject}/versions`, {
      schema: shippedSchemas.versions.find(({ name }) => name === 'change.v1')!.schema,
    });
    await ask(registry, `/config/${subject}`, { compatibility: before }, 'PUT');
    await open(registry);
    expect(await ask(registry, `/config/${subject}`)).toEqual({ compatibilityLevel: after });
  });
});

test('TLS and a password are used', async () => {
  const certificates = await makeCertificates();
  const { ca } = await makeCertificates();
  const [username, password] = ['fenceline', 'a:pass/wörd'];
  const front = await startRegistryFront(services()!.registry, {
    basicAuth: { username, password },
    tls: { certificates },
  });
  onTestFinished(() => front.stop());
  const { url } = front;
  const tls = { ca: certificates.ca };
  const wire = await open({ url, username, password, tls });
  expect(await read(wire, wireFrame(wire))).toEqual(plain(event));
  await expect(open({ url, username, password: 'guess', tls })).rejects.toThrow(/answered 401 to user fenceline$/);
  await expect(open({ url, tls })).rejects.toThrow(/answered 401 to a request without a user$/);
  // Redis has the ids by now. Without a trusted registry a node uses them, and says so.
  await open({ url, username, password, tls: { ca } }, { outageLimitMs: 500 });
  expect(problems.at(-1)).toMatch(/can't be reached: .*certificate.*; records are written with the ids/);
});
