import { connectRedis } from '../../../backends/cluster/redis/connection.js';
import { createRedisExpiringValues } from '../../../backends/cluster/redis/expiring-values.js';
import { services } from '../../../testing/services/services.js';
import { describeExpiringValuesContract } from '../../contract/expiring-values.contract.js';
import { freshRedisOptions } from './fresh-redis.js';

const { redis, redisCluster } = services()!;

for (const [name, nodes] of Object.entries({ Redis: [redis], 'Redis Cluster': redisCluster.nodes })) {
  describeExpiringValuesContract(name, async () => {
    const options = freshRedisOptions(nodes);
    return {
      async open() {
        const connection = await connectRedis(options, () => {});
        return { values: createRedisExpiringValues(connection), close: connection.close };
      },
      remove: async () => {},
    };
  });
}
