/**
 * The partitions that our topics have in Kafka, and more of them. Of all topics but `changes`, which has one for good.
 */
import type { Admin } from 'kafkajs';
import { type Topic, topics } from '../../../pipeline/ports.js';
import type { KafkaOptions } from '../options.js';
import { retried } from '../retrying.js';

type Prefix = Pick<KafkaOptions, 'prefix'>;

const partitioned = Object.values(topics).filter((topic) => topic !== topics.changes);

/** Partitions that were just made: not all brokers know of them yet. */
const knownWithinMs = 30_000;

/** 0 for a topic that isn't there. */
export async function countPartitions(admin: Admin, { prefix }: Prefix): Promise<ReadonlyMap<Topic, number>> {
  const existing = new Set(await admin.listTopics());
  const names = partitioned.map((topic) => prefix + topic).filter((name) => existing.has(name));
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names });
  const counts = new Map(found.map(({ name, partitions }) => [name, partitions.length]));
  return new Map(partitioned.map((topic) => [topic, counts.get(prefix + topic) ?? 0]));
}

/** Kafka's check of {@link growTopics}, by which nothing changes: rejects where we may not. */
export async function checkGrowth(admin: Admin, options: Prefix, to: number): Promise<void> {
  await createPartitions(admin, options, to, true);
}

/** Resolves when every topic has so many partitions. Topics that have them already stay as they are. */
export async function growTopics(admin: Admin, options: Prefix, to: number): Promise<void> {
  await createPartitions(admin, options, to, false);
  await retried(
    async () => {
      for (const [topic, count] of await countPartitions(admin, options)) {
        if (count !== to) throw new Error(`topic ${options.prefix}${topic} has ${count} partitions, not ${to}`);
      }
    },
    { limitMs: knownWithinMs },
  );
}

async function createPartitions(admin: Admin, options: Prefix, to: number, validateOnly: boolean): Promise<void> {
  const counts = await countPartitions(admin, options);
  const short = [...counts].filter(([, count]) => count < to);
  if (short.length === 0) return;
  const topicPartitions = short.map(([topic]) => ({ topic: options.prefix + topic, count: to }));
  await admin.createPartitions({ topicPartitions, validateOnly });
}
