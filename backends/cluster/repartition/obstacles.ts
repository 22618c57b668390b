/** Finds obstacles to a repartition: running processes and unprocessed records. Describes each in words. */
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

/** A consumer group and a topic that it reads. */
export interface Reader {
  readonly group: string;
  readonly topic: Topic;
  /** Where it stores its position. */
  readonly positions: 'states' | 'deliveries' | 'positions';
}

/** What a repartition examines: the services, and the consumer groups with the topics that they read. */
export interface RepartitionServices {
  readonly admin: Admin;
  readonly redis: RedisConnection;
  readonly kafka: Pick<KafkaOptions, 'prefix'>;
  readonly readers: readonly Reader[];
}

/** Returns the running processes that can be detected: members of groups, and nodes that receive replies. */
export async function processesIn({ admin, redis, kafka, readers }: RepartitionServices): Promise<string[]> {
  const { groups } = await admin.describeGroups(readers.map(({ group, topic }) => groupNameOf(kafka, group, topic)));
  const inGroups = groups
    .filter(({ members }) => members.length > 0)
    .map(({ groupId, members }) => `group ${groupId} has ${counted(members.length, 'member')}`);
  const inboxes = await countInboxes(redis);
  return inboxes === 0 ? inGroups : [`${counted(inboxes, 'process')} with the role ingest`, ...inGroups];
}

/** Returns the work that must be done before devices move. Queued deliveries don't count: they stay where they are. */
export async function waitingIn(site: RepartitionServices, partitions: number): Promise<string[]> {
  const readings = await Promise.all(
    site.readers.map(async (reader) => {
      const waiting = await unreadRecords(site, reader, partitions);
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

/** Counts the records that the reader has not read. */
async function unreadRecords(
  { admin, redis, kafka }: RepartitionServices,
  reader: Reader,
  partitions: number,
): Promise<number> {
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

async function fullOutboxes({ redis }: RepartitionServices, partitions: number): Promise<number> {
  const outboxes = Array.from(
    { length: partitions },
    (_, partition) => partitionKeys(redis.options.prefix, partition).outbox,
  );
  const found = await Promise.all(outboxes.map((outbox) => redis.withRetries(() => redis.client.exists(outbox))));
  return found.reduce((sum, each) => sum + each, 0);
}
