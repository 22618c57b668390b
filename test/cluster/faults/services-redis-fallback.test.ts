/**
 * Redis returns in an earlier state while no location arrives that would be refused. Regression: states stayed in the
 * earlier state for 92 s, until the next location. Deliveries that waited again were not sent for 80 s, although their
 * receiver was healthy.
 */
import { expect, it, onTestFinished } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { decodeDeviceState } from '../../../pipeline/records/device-state.js';
import { Receiver } from '../../../testing/receiver.js';
import { withRedis } from '../../../testing/services/clients.js';
import { startRedis } from '../../../testing/services/redis.js';
import { until } from '../../../testing/until.js';
import { readTopic } from '../../ledger/ledger.js';
import { clusterSources } from '../../ledger/sources.js';
import { ok } from '../../support/client.js';
import { newTestCluster } from '../../support/cluster.js';
import { ClusterNodes } from '../../support/cluster-nodes.js';
import { circle, standing } from '../../support/places.js';
import { oneNode } from './run.js';

const timeout = 600_000;
/** Less than the former 80 s. The documentation promises about two seconds on an idle machine. */
const promised = { timeoutMs: 70_000 };
const devices = 20;

it('an idle partition detects that Redis lost changes, and repeats them at once', { timeout }, async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const cluster = newTestCluster({ redis })!;
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  const environment = {
    ...cluster.environment,
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32',
    FENCELINE_LOCATIONS_PARTITIONS: '4',
  };
  const nodes = await ClusterNodes.start(environment, oneNode);
  onTestFinished(() => nodes.dispose());
  const secret = nodes.as('test_secret');
  await secret.putGeofence('home', circle(0, 0, 100));
  ok(await secret.post('/v1/webhooks', { url: receiver.url() }));

  const round = async (number: number, eastM: number) => {
    for (let index = 0; index < devices; index++) {
      const updatedAt = new Date(Date.now() - 60_000 + number * 10_000).toISOString();
      await secret.track({ deviceId: `device-${index}`, ...standing(eastM, 0), accuracy: 5, updatedAt });
    }
    await until(() => receiver.requests.length >= devices * (number + 1));
    await until(async () => (await nodes.metric('fenceline_webhook_deliveries_pending')) === 0);
  };
  const inside = async (): Promise<number> => {
    const sources = await clusterSources(environment);
    try {
      const [first] = (await readTopic(sources, topics.locations)).map(({ key }) => key.split('/'));
      const project = first![0];
      let count = 0;
      for (let index = 0; index < devices; index++) {
        const key = `${project}/test/device-${index}`;
        const [value] = await sources.states.load(sources.log.partitionOf(topics.locations, key), [key]);
        const state = value && decodeDeviceState(value);
        if (state?.users[0]?.geofences.length) count += 1;
      }
      return count;
    } finally {
      await sources.close();
    }
  };

  await round(0, 0);
  await withRedis({ host: redis.host, port: redis.port }, (client) => client.save());
  await round(1, 5_000);
  const before = receiver.requests.length;
  // Redis forgets that all devices have left, and that the deliveries about it were sent.
  await redis.kill();
  await redis.restart();
  const returnedMs = performance.now();
  await until(() => receiver.requests.length >= before + devices, { ...promised, describe: () => nodes.log() });
  const deliveredAfterMs = Math.round(performance.now() - returnedMs);
  console.log(`deliveries that Redis had forgotten were sent ${deliveredAfterMs} ms after its return`);
  // Deliveries and states are repeated independently of each other.
  await until(async () => (await inside()) === 0, { ...promised, describe: () => nodes.log() });
  expect(nodes.restarts, 'processes that ended').toBe(0);
});
