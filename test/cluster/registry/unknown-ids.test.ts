/** Records with a schema id that only the registry knows, while the registry is away. */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog, type KafkaLog } from '../../../backends/cluster/kafka/log.js';
import { Patience } from '../../../backends/cluster/patience.js';
import { connectRedis } from '../../../backends/cluster/redis/connection.js';
import { createKnownIds } from '../../../backends/cluster/registry/known-ids.js';
import { openWireSchemas } from '../../../backends/cluster/registry/open.js';
import { topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { exampleEvent } from '../../../schemas/testing/examples.js';
import { type BadNetwork, startProxy } from '../../../testing/services/proxy.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics } from '../kafka/fresh-kafka.js';
import { freshRedisOptions } from '../redis/fresh-redis.js';

const topic = topics.events;
const groups = ['group', null];
/** The watchdog also awaits that a member joins, which takes seconds on a busy machine. */
const kafkaOptions = { partitions: 2, stallTimeoutMs: 8_000 };
/** How long the registry is asked if nothing waits for it. */
const outageLimitMs = 200;

let network: BadNetwork;
let log: KafkaLog;
/** Reasons of the waits for the registry so far. A busy Kafka is waited for as well. */
let waits: string[];
/** Keys of records that were decoded, with the group that received them. */
let received: string[];
let failures: unknown[];

beforeEach(async () => {
  const { hostname, port, pathname } = new URL(services()!.registry.url);
  network = await startProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => network.stop());
  const redis = await connectRedis(freshRedisOptions([services()!.redis]), () => {});
  onTestFinished(() => redis.close());
  waits = [];
  received = [];
  failures = [];
  const patience = new Patience((service, reason) => {
    if (service === 'registry') waits.push(reason);
  });
  const options = { ...freshKafkaOptions(), ...kafkaOptions };
  const wire = await openWireSchemas({
    registry: { url: `http://${network.host}:${network.port}${pathname}` },
    knownIds: createKnownIds(redis),
    subjectPrefix: options.prefix,
    onProblem: () => {},
    patience,
    outageLimitMs,
  });
  const connection = await connectKafka(options, () => {}, { patience });
  onTestFinished(() => removeTopics(connection));
  log = createKafkaLog({ ...options, connection, wire, onProblem: () => {} });
  for (const group of groups) {
    const { done } = log.consume({
      topic,
      group,
      maxBatchRecords: 10,
      maxWaitMs: 0,
      handler: {
        assigned: async () => 0,
        records: async (_, records) => {
          for (const { key, value } of records)
            if (codecs.event.decode(value!).id === event.id) received.push(`${group} ${key}`);
        },
        revoked: async () => {},
      },
    });
    done.catch((error) => failures.push(error));
  }
  await append('slow', codecs.event.encode(event));
  await everyGroupHas('slow');
  received = [];
});

const event = exampleEvent({ id: 'e'.repeat(24) });
const append = (key: string, value: Buffer) => log.append(topic, [{ key, value }]);
const everyGroupHas = (...keys: string[]) =>
  until(() => keys.every((key) => groups.every((group) => received.includes(`${group} ${key}`))));

/** Appends an event whose schema another program has registered. It has the fields of ours. */
async function appendUnknown(key: string): Promise<void> {
  const schema = JSON.stringify({ ...JSON.parse(JSON.stringify(codecs.event.type.schema())), namespace: 'other' });
  const answer = await fetch(`${services()!.registry.url}/subjects/other-${event.id}-value/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema }),
  });
  const { id } = (await answer.json()) as { id: number };
  const frame = codecs.event.encode(event);
  frame.writeUInt32BE(id, 1);
  await append(key, frame);
}

/** Returns a key of another partition than that of `slow`. */
const otherKey = () => {
  const slow = log.partitionOf(topic, 'slow');
  return ['a', 'b', 'c', 'd', 'e', 'f', 'g'].find((key) => log.partitionOf(topic, key) !== slow)!;
};

// One such record ended every process after a minute, one after the other, for as long as the registry was away.
test('their partition waits for the registry, and the others go on', async () => {
  network.cutOff();
  await appendUnknown('slow');
  await until(() => waits.length > 0);
  const sinceMs = performance.now();
  // More than the watchdog lets a partition stand still.
  await until(() => performance.now() > sinceMs + 1.5 * kafkaOptions.stallTimeoutMs);
  await append(otherKey(), codecs.event.encode(event));
  await everyGroupHas(otherKey());
  expect(waits[0]).toMatch(/can't be reached.*; records with the unknown schema id \d+ wait$/);
  expect([received.length, failures]).toEqual([groups.length, []]);

  network.mend();
  await everyGroupHas('slow', otherKey());
  await log.close();
  expect([received.length, failures]).toEqual([2 * groups.length, []]);
});

test('a consumer that closes does not wait for the registry', async () => {
  network.cutOff();
  await appendUnknown('slow');
  await until(() => waits.length > 0);
  await log.close();
  expect([received, failures]).toEqual([[], []]);
});
