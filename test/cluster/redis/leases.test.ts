import { expect, test } from 'vitest';
import { connectRedis } from '../../../backends/cluster/redis/connection.js';
import { createRedisLeases } from '../../../backends/cluster/redis/leases.js';
import { hourMs } from '../../../schemas/durations.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshRedisOptions } from './fresh-redis.js';

const { redis, redisCluster } = services()!;
/** Longer than any test. */

test.each([
  ['a server', [redis]],
  ['a cluster', redisCluster.nodes],
])(
  'on %s one of many nodes gets a turn of each work, and after the interval another one does',
  async (_name, nodes) => {
    const options = freshRedisOptions(nodes);
    const connections = await Promise.all(Array.from({ length: 3 }, () => connectRedis(options, () => {})));
    const leases = connections.map(createRedisLeases);
    const asked = await Promise.all(leases.map((each) => each.take('sweep', hourMs)));
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect(await leases[0]!.take('other', 300)).toBe(true);
    await until(() => leases[1]!.take('other', hourMs));
    expect(await leases[2]!.take('other', hourMs)).toBe(false);
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
  const taking = createRedisLeases(onBadNetwork!).take('sweep', hourMs);
  await until(async () => (await direct!.client.keys(`${options.prefix}*`)).length > 0);
  proxy.cutOff();
  proxy.mend();
  expect(await taking).toBe(true);
  expect(await createRedisLeases(direct!).take('sweep', hourMs)).toBe(false);
  await Promise.all([onBadNetwork!.close(), direct!.close()]);
  await proxy.stop();
});
