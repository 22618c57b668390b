/**
 * The ports on services: Kafka for logs, Redis for states, positions, delivery queues, replies and turns, a registry
 * for what records look like.
 * ClickHouse is opened apart (`clickhouse/`), by who stores or asks.
 *
 * Flows in: records, commits. Flows out: the same, durable and in order, on any node. May import `schemas/` and
 * `pipeline/ports.ts`.
 */
import type { DeliveryQueue, Inbox, Leases, Log, Positions, Replies, StateStore } from '../../pipeline/ports.js';
import { topics } from '../../pipeline/ports.js';
import { connectKafka } from './kafka/connection/connection.js';
import { createKafkaLog, type KafkaLog } from './kafka/log.js';
import type { KafkaOptions, RedisOptions, RegistryOptions } from './options.js';
import { connectRedis } from './redis/connection.js';
import { createRedisDeliveryQueue } from './redis/delivery-queue.js';
import { refuseEviction } from './redis/eviction.js';
import { forRequests } from './redis/for-requests.js';
import { createRedisLeases } from './redis/leases.js';
import { createRedisPositions } from './redis/positions.js';
import { createRedisInbox, createRedisReplies } from './redis/replies.js';
import { createRedisStateStore } from './redis/state-store.js';
import { createRedisStates, type RedisStates } from './redis/states.js';
import { createKnownIds } from './registry/known-ids.js';
import { openWireSchemas } from './registry/open.js';
import type { WireSchemas } from './registry/wire-schemas.js';
import { refuseDuringChange } from './repartition/under-way.js';

export interface ClusterOptions {
  readonly kafka: KafkaOptions;
  readonly registry: RegistryOptions;
  readonly redis: RedisOptions;
  /** After which an idle device is forgotten; 0: never. */
  readonly stateRetentionMs: number;
  /** What went wrong and is being sat out, or got round. Never a secret. */
  readonly onProblem: (message: string) => void;
}

export interface ClusterBackend {
  /** For stages: an append waits through an outage of about a minute. */
  readonly log: Log;
  /** For requests: an append that takes too long is refused as `unavailable`, though it may be done. */
  readonly requestLog: Log;
  readonly stateStore: StateStore;
  /** For requests and metrics: an outage is told as `unavailable` instead of being sat out. */
  readonly requestStates: RedisStates;
  readonly positions: Positions;
  /** Its `size`, which only metrics ask for, tells an outage as `unavailable`. */
  readonly deliveryQueue: DeliveryQueue;
  /** For requests: reports an outage as `unavailable`. */
  readonly requestDeliveries: Pick<DeliveryQueue, 'waiting'>;
  readonly replies: Replies;
  readonly leases: Leases;
  /** Where replies to this process arrive. */
  openInbox(): Promise<Inbox>;
  /** Ends subscriptions and waits for what is in flight. */
  close(): Promise<void>;
}

/**
 * Rejects, saying why, when a service can't be reached for about a minute, or lets us not in, and while the number of
 * partitions is being changed.
 */
export async function openCluster(options: ClusterOptions): Promise<ClusterBackend> {
  const { onProblem } = options;
  const closing: (() => Promise<void>)[] = [];
  const opened = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const part = await opening;
    closing.unshift(() => part.close());
    return part;
  };
  const close = async (): Promise<void> => {
    for (const closePart of closing.splice(0)) await closePart();
  };
  try {
    const redis = await opened(connectRedis(options.redis, onProblem));
    await refuseEviction(redis);
    await refuseDuringChange(redis);
    const wire = await openWireSchemas({
      registry: options.registry,
      knownIds: createKnownIds(redis),
      subjectPrefix: options.kafka.prefix,
      onProblem,
    });
    const connection = await opened(connectKafka(options.kafka, onProblem));
    const { sessionTimeoutMs, stallTimeoutMs } = options.kafka;
    const kafkaLog = createKafkaLog({ connection, wire, sessionTimeoutMs, stallTimeoutMs, onProblem });
    closing.unshift(() => kafkaLog.close());
    const { publish, publishMissing } = kafkaLog;
    const stateStore = createRedisStateStore({
      redis,
      wire,
      publish,
      publishMissing,
      retentionMs: options.stateRetentionMs,
    });
    const partitions = kafkaLog.partitions(topics.events);
    const impatientRedis = forRequests(redis);
    const requestDeliveries = createRedisDeliveryQueue({ redis: impatientRedis, partitions });
    return {
      log: patient(kafkaLog, wire),
      requestLog: kafkaLog,
      stateStore,
      requestStates: createRedisStates(impatientRedis),
      positions: createRedisPositions(redis),
      deliveryQueue: {
        ...createRedisDeliveryQueue({ redis, partitions }),
        size: requestDeliveries.size,
      },
      requestDeliveries,
      replies: createRedisReplies(redis),
      leases: createRedisLeases(redis),
      openInbox: () => createRedisInbox(redis),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const patient = (log: KafkaLog, wire: WireSchemas): Log => ({
  partitions: log.partitions,
  partitionOf: log.partitionOf,
  consume: log.consume,
  read: log.read,
  bounds: log.bounds,
  end: log.end,
  async append(topic, records) {
    for (const { value } of records) if (value !== null) wire.toWire(topic, value);
    await log.publish(topic, records);
  },
});
