/**
 * Opens the ports of a cluster node: Kafka for the log; Redis for states, positions, delivery queues, expiring values,
 * replies and leases; a schema registry for the ids of schemas. Nodes that use analytics open ClickHouse separately
 * (`clickhouse/`).
 */
import type {
  DeliveryQueue,
  ExpiringValues,
  Inbox,
  Leases,
  Log,
  Positions,
  Replies,
  StateStore,
} from '../../pipeline/ports.js';
import { topics } from '../../pipeline/ports.js';
import type { ClientObserver } from './client-observer.js';
import { connectKafka } from './kafka/connection/connection.js';
import { logForRequests } from './kafka/for-requests.js';
import { createKafkaLog, type KafkaLog } from './kafka/log.js';
import type { KafkaOptions, RedisOptions, RegistryOptions } from './options.js';
import { Patience, type RefusingService } from './patience.js';
import { createProblemReporter } from './problem-reporter.js';
import { startRedisClock } from './redis/clock.js';
import { connectRedis } from './redis/connection.js';
import { createRedisDeliveryQueue } from './redis/delivery-queue.js';
import { refuseEviction } from './redis/eviction.js';
import { createRedisExpiringValues } from './redis/expiring-values.js';
import { forRequests } from './redis/for-requests.js';
import { createRedisLeases } from './redis/leases.js';
import { createRedisPositions } from './redis/positions.js';
import { createRedisInbox, createRedisReplies } from './redis/replies.js';
import { createRedisStateStore } from './redis/state-store.js';
import { createRedisStates, type RedisStates } from './redis/states.js';
import { createKnownIds } from './registry/known-ids.js';
import { openWireSchemas } from './registry/open.js';
import type { WireSchemas } from './registry/wire-schemas.js';
import { refuseDuringRepartition } from './repartition/in-progress.js';
import { answerOfService, nameOfKafka, serviceError } from './service-error.js';

/** Where the services of a cluster are, and how patient a node is with them. */
export interface ClusterOptions {
  readonly kafka: KafkaOptions;
  readonly registry: RegistryOptions;
  readonly redis: RedisOptions;
  /** Idle time after which a device is deleted. 0: never. */
  readonly stateRetentionMs: number;
  /** Called for problems that are retried or worked around. Messages contain no secrets. */
  readonly onProblem: (message: string) => void;
  /** Called for each answer of a service that serves no process at the moment, for which stages wait. */
  readonly onRefusal?: (service: RefusingService) => void;
  /** Ends the wait for a registry that is out of reach, at a start that needs it. */
  readonly ending?: AbortSignal;
  /** Observe the clients, for metrics. */
  readonly observers?: { readonly kafka: ClientObserver; readonly redis: ClientObserver };
}

/** The ports over Kafka and Redis, for one process. Closing it closes all of them. */
export interface ClusterBackend {
  /** Names topic `changes` among those of all clusters. */
  readonly changesId: string;
  /** For stages: appends are retried for about a minute. */
  readonly log: Log;
  /** For requests: what takes ten seconds rejects as `unavailable`. An append may still succeed. */
  readonly requestLog: Log;
  readonly stateStore: StateStore;
  /** For requests and metrics: rejects as `unavailable` after two seconds of an outage. */
  readonly requestStates: RedisStates;
  readonly positions: Positions;
  /** Its `size`, which only metrics use, rejects as `unavailable` after two seconds of an outage. */
  readonly deliveryQueue: DeliveryQueue;
  /** For requests: rejects as `unavailable` after two seconds of an outage. */
  readonly requestDeliveries: Pick<DeliveryQueue, 'waiting'>;
  /** For requests: rejects as `unavailable` after two seconds of an outage. */
  readonly values: ExpiringValues;
  readonly replies: Replies;
  readonly leases: Leases;
  /** Returns the present in epoch ms, about which nodes agree, also if the clock of one is ahead. */
  readonly clock: () => number;
  /** Shared by all services of the process. */
  readonly patience: Patience;
  /** Opens the inbox for replies to this process. */
  openInbox(): Promise<Inbox>;
  /** Closes subscriptions and waits for appends in flight. */
  close(): Promise<void>;
}

/**
 * Connects to the services. Rejects with a ServiceError when Kafka or Redis is out of reach for about a minute, when a
 * service refuses the login, and during a repartition.
 */
export async function openCluster(options: ClusterOptions): Promise<ClusterBackend> {
  const { onProblem, observers } = options;
  /** kafkajs and the members of groups repeat theirs several times a second, for as long as an outage lasts. */
  const report = createProblemReporter(onProblem);
  const patience = new Patience((service, reason) => {
    options.onRefusal?.(service);
    report(`${service} serves nobody at the moment: ${reason}`, service);
  });
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
    const redis = await opened(connectRedis(options.redis, onProblem, { observer: observers?.redis, patience }));
    await refuseEviction(redis);
    await refuseDuringRepartition(redis);
    const clock = await opened(startRedisClock(redis));
    const wire = await openWireSchemas({
      registry: options.registry,
      knownIds: createKnownIds(redis),
      subjectPrefix: options.kafka.prefix,
      onProblem,
      patience,
      signal: options.ending,
    });
    const connectingKafka = connectKafka(options.kafka, report, { observer: observers?.kafka, patience });
    const connection = await opened(answerOfService(connectingKafka, nameOfKafka(options.kafka)));
    const { sessionTimeoutMs, stallTimeoutMs } = options.kafka;
    const kafkaLog = createKafkaLog({ connection, wire, sessionTimeoutMs, stallTimeoutMs, onProblem: report });
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
    const requestRedis = forRequests(redis);
    const requestDeliveries = createRedisDeliveryQueue({ redis: requestRedis, partitions });
    return {
      changesId: `${connection.clusterId}/${connection.topicName(topics.changes)}`,
      log: retryingLog(kafkaLog, wire),
      requestLog: logForRequests(kafkaLog),
      stateStore,
      requestStates: createRedisStates(requestRedis),
      positions: createRedisPositions(redis),
      deliveryQueue: {
        ...createRedisDeliveryQueue({ redis, partitions }),
        size: requestDeliveries.size,
      },
      requestDeliveries,
      values: createRedisExpiringValues(requestRedis),
      replies: createRedisReplies(redis),
      leases: createRedisLeases(redis),
      clock: clock.now,
      patience,
      openInbox: () => createRedisInbox(redis),
      close,
    };
  } catch (error) {
    await close();
    throw serviceError(error);
  }
}

/** Returns a log whose appends have no limits and are retried for about a minute. */
const retryingLog = (log: KafkaLog, wire: WireSchemas): Log => ({
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
