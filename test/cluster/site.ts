/**
 * A separate cluster backend of a test on the shared services: topics and keys under a random prefix. Frames keep their
 * ids.
 */
import { connectKafka } from '../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog } from '../../backends/cluster/kafka/log.js';
import { connectRedis } from '../../backends/cluster/redis/connection.js';
import { createRedisDeliveryQueue } from '../../backends/cluster/redis/delivery-queue.js';
import { createRedisPositions } from '../../backends/cluster/redis/positions.js';
import { createRedisStateStore, type RedisStateStoreParts } from '../../backends/cluster/redis/state-store.js';
import { services } from '../../testing/services/services.js';
import type { Backend, BackendSite } from '../contract/backend.js';
import { freshKafkaOptions, removeTopics, sameOnTheWire } from './kafka/fresh-kafka.js';
import { freshRedisOptions } from './redis/fresh-redis.js';

/** Longer than any test. */
const retentionMs = 60 * 60 * 1_000;

type Publish = RedisStateStoreParts['publish'];

export interface ClusterSite extends BackendSite {
  /** Opens the backend. `failing` wraps the function that publishes committed records. */
  open(failing?: (publish: Publish) => Publish): Promise<Backend>;
}

/** Creates a site on the single Redis server or on the Redis Cluster. */
export async function clusterSite({
  redis: kind = 'server',
}: {
  readonly redis?: 'server' | 'cluster';
} = {}): Promise<ClusterSite> {
  const { redis: server, redisCluster } = services()!;
  const kafkaOptions = freshKafkaOptions();
  const redisOptions = freshRedisOptions(kind === 'cluster' ? redisCluster.nodes : [server]);
  const { partitions, sessionTimeoutMs, stallTimeoutMs } = kafkaOptions;

  async function open(failing = (publish: Publish) => publish): Promise<Backend> {
    const connection = await connectKafka(kafkaOptions, () => {});
    const redis = await connectRedis(redisOptions, () => {});
    const log = createKafkaLog({
      connection,
      wire: sameOnTheWire,
      sessionTimeoutMs,
      stallTimeoutMs,
      onProblem: () => {},
    });
    const { publish, publishMissing } = log;
    return {
      log,
      stateStore: createRedisStateStore({
        redis,
        wire: sameOnTheWire,
        publish: failing(publish),
        publishMissing,
        retentionMs,
      }),
      positions: createRedisPositions(redis),
      deliveryQueue: createRedisDeliveryQueue({ redis, partitions }),
      async close() {
        await log.close();
        await redis.close();
        await connection.close();
      },
    };
  }

  return {
    open,
    remove: async () => removeTopics(await connectKafka(kafkaOptions, () => {})),
  };
}
