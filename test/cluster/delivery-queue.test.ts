import { randomBytes } from 'node:crypto';
import type { RedisOptions } from '../../backends/cluster/options.js';
import { connectRedis } from '../../backends/cluster/redis/connection.js';
import { createRedisDeliveryQueue } from '../../backends/cluster/redis/delivery-queue.js';
import type { Backend, BackendSite } from '../contract/backend.js';
import { describeDeliveryQueueContract } from '../contract/delivery-queue.contract.js';
import { services } from '../services/services.js';

const { redis, redisCluster } = services()!;

const freshOptions = (nodes: RedisOptions['nodes']): RedisOptions => ({
  nodes,
  isCluster: nodes.length > 1,
  prefix: `test-${randomBytes(8).toString('hex')}:`,
  connectTimeoutMs: 2_000,
  commandTimeoutMs: 2_000,
});

async function openQueue(options: RedisOptions) {
  const connection = await connectRedis(options, () => {});
  return { deliveryQueue: createRedisDeliveryQueue({ redis: connection, partitions: 2 }), close: () => connection.close() };
}

const siteOn = (nodes: RedisOptions['nodes']) => async (): Promise<BackendSite> => {
  const options = freshOptions(nodes);
  return { open: async () => (await openQueue(options)) as unknown as Backend, remove: async () => {} };
};

describeDeliveryQueueContract('Redis', siteOn([redis]));
describeDeliveryQueueContract('Redis Cluster', siteOn(redisCluster.nodes));
