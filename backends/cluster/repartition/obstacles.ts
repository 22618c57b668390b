/**
 * What stands in the way of moving devices to other partitions: processes that run, and records that wait. Each as a
 * sentence.
 */
import type { Admin } from 'kafkajs';
import type { Topic, topics } from '../../../pipeline/ports.js';
import { groupNameOf } from '../kafka/connection/client.js';
import type { KafkaOptions } from '../options.js';
import type { RedisConnection } from '../redis/connection.js';
import { SourceKeys } from '../redis/delivery-queue-layout.js';
import { createRedisPositions } from '../redis/positions.js';
import { countInboxes } from '../redis/replies.js';
import { partitionKeys } from '../redis/state-scripts.js';
import { createRedisStates } from '../redis/states.js';

/** A group of ours, and a topic that it reads. */
export interface Reader {
  readonly group: string;
  readonly topic: Topic;
  /** Where it keeps how far it has come. */
  readonly positions: 'states' | 'deliveries' | 'positions';
}

export interface Site {
  readonly admin: Admin;
  readonly redis: RedisConnection;
  readonly kafka: Pick<KafkaOptions, 'prefix'>;
  readonly readers: readonly Reader[];
}

/** Who runs, as far as it can be known: members of groups, and nodes that wait for replies. */
export async function processesIn({ admin, redis, kafka, readers }: Site): Promise<string[]> {
  const { groups } = await admin.describeGroups(readers.map(({ group, topic }) => groupNameOf(kafka, group, topic)));
  const inGroups = groups
    .filter(({ members }) => members.length > 0)
    .map(({ groupId, members }) => `group ${groupId} has ${counted(members.length, 'member')}`);
  const inboxes = await countInboxes(redis);
  return inboxes === 0 ? inGroups : [`${counted(inboxes, 'process')} with the role ingest`, ...inGroups];
}

/** What must be done before a device may move. Deliveries that are in their queue may wait: there they stay. */
export async function waitingIn(site: Site, partitions: number): Promise<string[]> {
  const readings = await Promise.all(
    site.readers.map(async (reader) => {
      const waiting = await recordsBefore(site, reader, partitions);
      return waiting === 0
        ? []
        : [`${counted(waiting, 'record')} of ${site.kafka.prefix}${reader.topic} for ${reader.group}`];
    }),
  );
  const outboxes = await fullOutboxes(site, partitions);
  return outboxes === 0 ? readings.flat() : [...readings.flat(), `${counted(outboxes, 'outbox')} to be published`];
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : /(s|x)$/.test(noun) ? 'es' : 's'}`;

/** Records that the log holds and the reader has not read. */
async function recordsBefore({ admin, redis, kafka }: Site, reader: Reader, partitions: number): Promise<number> {
  const bounds = await admin.fetchTopicOffsets(kafka.prefix + reader.topic);
  const positions = await positionsOf(redis, reader, partitions);
  return bounds.reduce((sum, { partition, low, high }) => {
    const position = Math.max(positions[partition] ?? 0, Number(low));
    return sum + Math.max(0, Number(high) - position);
  }, 0);
}

async function positionsOf(
  redis: RedisConnection,
  { group, topic, positions }: Reader,
  partitions: number,
): Promise<number[]> {
  if (positions === 'states') return createRedisStates(redis).nextOffsets(partitions);
  const read = {
    deliveries: async (partition: number): Promise<number> => {
      const { meta } = new SourceKeys(redis.options.prefix, { topic: topic as typeof topics.events, partition });
      return Number(await redis.withRetries(() => redis.client.hget(meta, 'offset')));
    },
    positions: async (partition: number): Promise<number> =>
      (await createRedisPositions(redis).get(group, topic, partition)).offset,
  }[positions];
  return Promise.all(Array.from({ length: partitions }, (_, partition) => read(partition)));
}

async function fullOutboxes({ redis }: Site, partitions: number): Promise<number> {
  const outboxes = Array.from(
    { length: partitions },
    (_, partition) => partitionKeys(redis.options.prefix, partition).outbox,
  );
  const found = await Promise.all(outboxes.map((outbox) => redis.withRetries(() => redis.client.exists(outbox))));
  return found.reduce((sum, each) => sum + each, 0);
}
