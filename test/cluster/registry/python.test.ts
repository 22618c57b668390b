/**
 * Interoperability with another client: Python's confluent-kafka reads our topics through the registry, and writes
 * records that we read. TEST_SERVICES_PYTHON names a Python that has the package. Without the variable the tests are
 * skipped; with it they fail if the package can't be imported.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ClusterBackend, openCluster } from '../../../backends/cluster/cluster.js';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { shippedSchemas } from '../../../backends/cluster/registry/shipped-schemas.js';
import { type Log, type Topic, topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { exampleEvent } from '../../../schemas/testing/examples.js';
import * as arbitrary from '../../../schemas/testing/records.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics } from '../kafka/fresh-kafka.js';
import { freshRedisOptions } from '../redis/fresh-redis.js';

/** If empty, the tests are skipped. */
const python = process.env.TEST_SERVICES_PYTHON ?? '';
if (python === '') console.warn('the tests with a Python client are skipped: TEST_SERVICES_PYTHON is not set');

const values: Record<Topic, fc.Arbitrary<unknown>> = {
  [topics.locations]: arbitrary.location,
  [topics.outcomes]: arbitrary.outcome,
  [topics.events]: arbitrary.event,
  [topics.changes]: arbitrary.change,
  [topics.deadLetters]: arbitrary.deadLetter,
  [topics.deliveries]: arbitrary.delivery,
  [topics.attempts]: arbitrary.attempt,
  [topics.rejections]: arbitrary.rejection,
};

const run = promisify(execFile);
const limits = { timeout: 200_000, maxBuffer: 16 << 20 };
const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** Returns a decoded record as plain JSON, with bytes as base64. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, field) =>
      field?.type === 'Buffer' ? Buffer.from(field.data).toString('base64') : field,
    ),
  );

interface Keyed {
  readonly key: string;
  readonly partition: number;
  readonly value: unknown;
}
const byKey = (records: readonly Keyed[]): Keyed[] => records.toSorted((a, b) => (a.key < b.key ? -1 : 1));

const kafka = freshKafkaOptions();
let cluster: ClusterBackend;
let log: Log;

describe.skipIf(python === '')('a client in Python', () => {
  beforeAll(async () => {
    execFileSync(python, ['-c', 'import confluent_kafka.schema_registry.avro'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const { redis, registry } = services()!;
    const parts = { kafka, registry, redis: freshRedisOptions([redis]), stateRetentionMs: 0 };
    cluster = await openCluster({ ...parts, onProblem: console.warn });
    log = cluster.log;
  });
  afterAll(async () => {
    await cluster?.close();
    await removeTopics(await connectKafka(kafka, () => {}));
  });

  const addresses = (): string[] => [kafka.brokers.join(), services()!.registry.url];

  test.each(Object.entries(values) as [Topic, fc.Arbitrary<unknown>][])(
    'reads %s as they were written',
    async (topic, ofTopic) => {
      const records = fc.sample(ofTopic, 50).map((value, index) => ({ key: `key ${index} ü`, value }));
      const { encode } = shippedSchemas.codecs[topic];
      await log.append(
        topic,
        records.map(({ key, value }) => ({ key, value: encode(value) })),
      );
      const topicName = kafka.prefix + topic;
      const read = await run(
        python,
        [program('read_topic.py'), ...addresses(), topicName, String(records.length)],
        limits,
      );
      const expected = records.map(({ key, value }) => ({
        key,
        partition: log.partitionOf(topic, key),
        value: plain(value),
      }));
      expect(
        byKey(
          read.stdout
            .trimEnd()
            .split('\n')
            .map((line) => plain(JSON.parse(line)) as Keyed),
        ),
      ).toEqual(byKey(expected));
    },
  );

  test('writes locations that Fenceline reads, to the same partitions', async () => {
    const records = fc.sample(arbitrary.location, 50).map((value, index) => ({ key: `written ${index} ü`, value }));
    const writing = run(python, [program('write_topic.py'), ...addresses(), kafka.prefix + topics.locations], limits);
    for (const record of records) writing.child.stdin!.write(`${JSON.stringify(record)}\n`);
    writing.child.stdin!.end();
    await writing;
    const read: Keyed[] = [];
    for (let partition = 0; partition < log.partitions(topics.locations); partition++) {
      for (const { key, value } of (await log.read(topics.locations, partition, 0, 1_000)).records) {
        if (key.startsWith('written')) read.push({ key, partition, value: plain(codecs.location.decode(value!)) });
      }
    }
    const expected = records.map(({ key, value }) => ({
      key,
      partition: log.partitionOf(topics.locations, key),
      value: plain(value),
    }));
    expect(byKey(read)).toEqual(byKey(expected));
  });

  test('the program in the guide prints every event', async () => {
    const guide = readFileSync(new URL('../../../docs/subscribers.md', import.meta.url), 'utf8');
    const code = /```python\n([\s\S]*?)```/.exec(guide)![1]!;
    const [brokers, registry] = addresses();
    const env = {
      ...process.env,
      KAFKA: brokers,
      REGISTRY: registry,
      TOPIC: kafka.prefix + topics.events,
      GROUP: `${kafka.prefix}guide`,
    };
    const child = spawn(python, ['-u', '-c', code], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes;
    });
    const event = exampleEvent({ id: 'f'.repeat(24) });
    await log.append(topics.events, [{ key: 'project/test/phone', value: codecs.event.encode(event) }]);
    await until(() => output.includes(`project/test/phone ${event.type} ${event.id}`), {
      describe: () => output,
    });
  });
});
