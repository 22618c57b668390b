/**
 * The log on three brokers, which die or freeze one after the other. By a ledger of the appended records, each must
 * exist once, in the order of its key, and a follower must receive each once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog, type KafkaLog } from '../../../backends/cluster/kafka/log.js';
import type { LogRecord } from '../../../pipeline/ports.js';
import { startKafka } from '../../../testing/services/kafka.js';
import type { Server } from '../../../testing/services/server.js';
import { until } from '../../../testing/until.js';
import { record, textOf } from '../../contract/backend.js';
import { freshKafkaOptions, sameOnTheWire } from './fresh-kafka.js';

const topic = 'locations';
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Appends to all keys in rounds until it is stopped. */
function startAppending(log: KafkaLog) {
  let rounds = 0;
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (; !isStopped; rounds++) {
      await log.publish(
        topic,
        keys.map((key) => record(key, `${rounds}`)),
      );
      // Gives the brokers time to replicate.
      await delay(5);
    }
  };
  const running = run();
  running.catch(() => {});
  return {
    /** Resolves when some more rounds are durable. */
    async progress(): Promise<void> {
      const goal = rounds + 5;
      await Promise.race([running, until(() => rounds >= goal, { describe: () => `round ${goal}, at ${rounds}` })]);
    },
    async stop(): Promise<number> {
      isStopped = true;
      await running;
      return rounds;
    },
  };
}

const byKey = (records: readonly LogRecord[]) =>
  new Map(keys.map((key) => [key, records.filter((each) => each.key === key).map((each) => Number(textOf(each)))]));

test('restarts of brokers lose and duplicate nothing', { timeout: 300_000 }, async () => {
  const kafka = await startKafka({ brokers: 3 });
  onTestFinished(() => kafka.stop());
  const options = { ...freshKafkaOptions(), brokers: kafka.brokers, replicationFactor: 3, minInSyncReplicas: 2 };
  const connection = await connectKafka(options, () => {});
  const log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem: () => {} });
  onTestFinished(async () => {
    await log.close();
    await connection.close();
  });

  const followed: LogRecord[] = [];
  const subscription = log.consume({
    topic,
    group: null,
    maxBatchRecords: 100,
    maxWaitMs: 0,
    handler: {
      assigned: async () => 0,
      records: async (_, records) =>
        void followed.push(...records.map((each) => ({ ...each, value: Buffer.from(each.value!) }))),
      revoked: async () => {},
    },
  });
  subscription.done.catch(() => {});
  /** Resolves when all replicas are in sync, so that enough remain when the next broker goes. */
  const allInSync = () =>
    until(async () => {
      const asked = { topics: [connection.topicName(topic)] };
      const metadata = await connection.admin.fetchTopicMetadata(asked).catch(() => undefined);
      return metadata?.topics.every(({ partitions }) =>
        partitions.every(({ isr, leader }) => isr.length === 3 && leader >= 0),
      );
    });

  const appending = startAppending(log);
  const [first, second, third] = kafka.nodes as [Server, Server, Server];
  for (const node of [first, second]) {
    await appending.progress();
    await node.kill();
    await appending.progress();
    await node.restart();
    await allInSync();
  }
  await third.pause();
  await appending.progress();
  await third.resume();
  await allInSync();
  await appending.progress();
  const rounds = await appending.stop();

  const count = rounds * keys.length;
  const partitions = Array.from({ length: log.partitions(topic) }, (_, partition) => partition);
  const expected = new Map(keys.map((key) => [key, Array.from({ length: rounds }, (_, i) => i)]));
  // The third broker was just resumed. It may still act as a leader, and answer with its former records.
  const all = await until(
    async () => {
      const records = (await Promise.all(partitions.map((each) => log.read(topic, each, 0, count)))).flatMap(
        (each) => each.records,
      );
      return records.length >= count && records;
    },
    { describe: () => `${count} records are in the log` },
  );
  expect(byKey(all)).toEqual(expected);
  await until(() => followed.length >= count);
  expect(byKey(followed)).toEqual(expected);
  await subscription.close();
  await subscription.done;
});
