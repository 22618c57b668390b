/** Counts and adds partitions of all topics except `changes`, which always has one. */
import type { Admin } from 'kafkajs';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { retried } from '../../../pipeline/retrying.js';
import type { KafkaOptions } from '../options.js';

type Prefix = Pick<KafkaOptions, 'prefix'>;

const partitioned = Object.values(topics).filter((topic) => topic !== topics.changes);

/** How long brokers may take to learn of new partitions. */
const propagationLimitMs = 30_000;

/** Counts the partitions of each topic: 0 for one that does not exist. */
export async function countPartitions(admin: Admin, { prefix }: Prefix): Promise<ReadonlyMap<Topic, number>> {
  const existing = new Set(await admin.listTopics());
  const names = partitioned.map((topic) => prefix + topic).filter((name) => existing.has(name));
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names });
  const counts = new Map(found.map(({ name, partitions }) => [name, partitions.length]));
  return new Map(partitioned.map((topic) => [topic, counts.get(prefix + topic) ?? 0]));
}

/** Validates {@link growTopics} without changing anything. Rejects when it is not permitted. */
export async function checkGrowth(admin: Admin, options: Prefix, to: number): Promise<void> {
  await createPartitions(admin, options, to, true);
}

/** Resolves when every topic has so many partitions. Topics that have them are not changed. */
export async function growTopics(admin: Admin, options: Prefix, to: number): Promise<void> {
  await createPartitions(admin, options, to, false);
  await retried(
    async () => {
      for (const [topic, count] of await countPartitions(admin, options)) {
        if (count !== to) throw new Error(`topic ${options.prefix}${topic} has ${count} partitions, not ${to}`);
      }
    },
    { limitMs: propagationLimitMs },
  );
}

async function createPartitions(admin: Admin, options: Prefix, to: number, validateOnly: boolean): Promise<void> {
  const counts = await countPartitions(admin, options);
  const short = [...counts].filter(([, count]) => count < to);
  if (short.length === 0) return;
  const topicPartitions = short.map(([topic]) => ({ topic: options.prefix + topic, count: to }));
  await admin.createPartitions({ topicPartitions, validateOnly });
}
