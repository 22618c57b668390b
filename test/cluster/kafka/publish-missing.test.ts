/**
 * A process is killed before it publishes records, or before it confirms their publication. Once its successor is done,
 * each record is on its topic once.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog, type KafkaLog } from '../../../backends/cluster/kafka/log.js';
import { partitionOfKey } from '../../../backends/cluster/kafka/produce/partitioner.js';
import type { NewRecord } from '../../../pipeline/ports.js';
import { freshKafkaOptions, removeTopics, sameOnTheWire } from './fresh-kafka.js';

const topic = 'events';
let connection: KafkaConnection;
let log: KafkaLog;

beforeAll(async () => {
  const options = freshKafkaOptions();
  connection = await connectKafka(options, () => {});
  log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem: () => {} });
});
afterAll(async () => {
  await log.close();
  await removeTopics(connection);
});

let runs = 0;
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const textOf = ({ key, value }: NewRecord): string => `${key} ${value?.toString('latin1')}`;
const partitionOf = ({ key }: NewRecord): number => partitionOfKey(key, connection.partitions(topic));

/**
 * Returns the first records of each partition. Kafka accepts all or none of a partition's batch, but may accept one
 * partition's and not another's.
 */
function takenOf(records: readonly NewRecord[], counts: readonly number[]): NewRecord[] {
  const taken = counts.map(() => 0);
  return records.filter((record) => {
    const partition = partitionOf(record);
    taken[partition]! += 1;
    return taken[partition]! <= counts[partition]!;
  });
}

async function all(): Promise<NewRecord[]> {
  const partitions = Array.from({ length: connection.partitions(topic) }, async (_, partition) => {
    const { first, end } = await log.bounds(topic, partition);
    return (await log.read(topic, partition, first, end - first)).records;
  });
  return (await Promise.all(partitions)).flat();
}

test('records that exist already are not published again, and keys keep their order', async () => {
  const outbox = fc.array(fc.tuple(fc.constantFrom(...keys), fc.uint8Array({ maxLength: 20 })), {
    minLength: 1,
    maxLength: 30,
  });
  const counts = fc.array(fc.nat({ max: 12 }), { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(outbox, counts, fc.nat({ max: 300 }), async (drawn, taken, others) => {
      runs += 1;
      const records = drawn.map(([key, bytes], i) => ({
        key,
        value: Buffer.concat([Buffer.from(`\0${runs} ${i} `), bytes]),
      }));
      await log.publish(topic, takenOf(records, taken));
      const conversions = Array.from({ length: others }, (_, i) => ({
        key: keys[i % keys.length]!,
        value: Buffer.from(`other ${runs} ${i}`),
      }));
      await log.publish(topic, conversions);
      await log.publishMissing(topic, records);
      await log.publishMissing(topic, records);

      const found = (await all()).map(textOf).filter((text) => text.includes(`\0${runs} `));
      const ofKey = (texts: readonly string[], key: string) => texts.filter((text) => text.startsWith(`${key} `));
      expect(found).toHaveLength(records.length);
      for (const key of keys) expect(ofKey(found, key)).toEqual(ofKey(records.map(textOf), key));
    }),
    { numRuns: 25 },
  );
});

test('tombstones and equal values of other keys are distinguished', async () => {
  const records = [
    { key: 'tombstone-1', value: null },
    { key: 'tombstone-1', value: Buffer.alloc(0) },
    { key: 'tombstone-2', value: null },
  ];
  await log.publish(topic, records.slice(0, 1));
  await log.publishMissing(topic, records);
  const found = (await all()).filter(({ key }) => key.startsWith('tombstone'));
  expect(found.map(textOf).toSorted()).toEqual(records.map(textOf).toSorted());
});
