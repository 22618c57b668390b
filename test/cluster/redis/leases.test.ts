import { expect, test } from 'vitest';
import { connectRedis } from '../../../backends/cluster/redis/connection.js';
import { createRedisLeases } from '../../../backends/cluster/redis/leases.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshRedisOptions } from './fresh-redis.js';

const { redis, redisCluster } = services()!;

test.each([
  ['a server', [redis]],
  ['a cluster', redisCluster.nodes],
])(
  'on %s one node of many gets a turn, of each work, and when the interval has passed the next one',
  async (_name, nodes) => {
    const options = freshRedisOptions(nodes);
    const connections = await Promise.all(Array.from({ length: 3 }, () => connectRedis(options, () => {})));
    const leases = connections.map(createRedisLeases);
    const asked = await Promise.all(leases.map((each) => each.take('sweep', 300)));
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect(await leases[0]!.take('other', 60_000)).toBe(true);
    const takenAtMs = performance.now();
    await until(() => leases[0]!.take('sweep', 60_000));
    expect(performance.now() - takenAtMs).toBeLessThan(5_000);
    expect(await leases[1]!.take('sweep', 60_000)).toBe(false);
    await Promise.all(connections.map(({ close }) => close()));
  },
);

test('a lease whose reply was lost is still taken', async () => {
  const proxy = await startProxy(redis);
  const options = freshRedisOptions([proxy], { commandTimeoutMs: 10_000 });
  const [onBadNetwork, direct] = await Promise.all(
    [options, { ...options, nodes: [redis] }].map((each) => connectRedis(each, () => {})),
  );
  proxy.dropsAnswers = true;
  const taking = createRedisLeases(onBadNetwork!).take('sweep', 60_000);
  await until(async () => (await direct!.client.keys(`${options.prefix}*`)).length > 0);
  proxy.cutOff();
  proxy.mend();
  expect(await taking).toBe(true);
  expect(await createRedisLeases(direct!).take('sweep', 60_000)).toBe(false);
  await Promise.all([onBadNetwork!.close(), direct!.close()]);
  await proxy.stop();
});
