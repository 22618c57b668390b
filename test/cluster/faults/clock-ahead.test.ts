/** The clock of one node is hours ahead, and the other is right. Requests reach both in turn. */
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../testing/until.js';
import { Client, type Json, ok } from '../../support/client.js';
import { newTestCluster } from '../../support/cluster.js';
import { ClusterNodes } from '../../support/cluster-nodes.js';
import { circle, eventTypesOf, standing } from '../../support/places.js';
import { patientReplies } from '../../support/server.js';

const aheadMs = 5 * 60 * 60_000;
const clock = fileURLToPath(
  new URL('../../embedded/previous-release/clock.cjs', import.meta.url).href.replace('/dist/', '/'),
);

const requests = ['ingest', 'api'] as const;
/** The node whose clock is ahead also erases: it took everything of the last five hours for older than the request. */
const plan = [
  { name: 'right', roles: [...requests, 'pipeline', 'webhooks'] },
  {
    name: 'ahead',
    roles: [...requests, 'pipeline', 'analytics'],
    environment: { NODE_OPTIONS: `--require ${clock}`, TEST_CLOCK_OFFSET_MS: `${aheadMs}` },
  },
] as const;

it('edits keep their order, devices are heard, and users are erased', { timeout: 600_000 }, async () => {
  const settings = { FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0', ...patientReplies };
  const nodes = await ClusterNodes.start({ ...newTestCluster()!.environment, ...settings }, plan);
  onTestFinished(() => nodes.dispose());
  const [right, ahead] = ['right', 'ahead'].map(
    (name) => new Client(() => nodes.node(name).address, nodes.keys.test_secret),
  ) as [Client, Client];

  for (let edit = 0; edit < 6; edit++)
    await (edit % 2 === 0 ? ahead : right).putGeofence('home', { ...circle(0, 0, 100), description: `edit ${edit}` });
  for (const client of [right, ahead]) {
    const isLast = async () => ok(await client.get('/v1/geofences/test/home')).geofence.description === 'edit 5';
    await until(isLast);
  }

  const startedAtMs = Date.now();
  /** As an SDK sends it: with the age of the fix, and the clock of the device. */
  const fix = (userId: string, eastM: number) => ({
    ...{ deviceId: `phone of ${userId}`, userId, ...standing(eastM, 0), foreground: true },
    ...{ updatedAtMsDiff: 100, locationMs: Date.now() - startedAtMs },
  });
  const report = async (client: Client, userId: string, eastM: number) =>
    eventTypesOf((await client.track(fix(userId, eastM))).events);
  const [entered, exited] = [['user.entered_geofence'], ['user.exited_geofence']];
  expect(await report(ahead, 'Ada', 0)).toEqual(entered);
  expect(await report(right, 'Ada', 1_000)).toEqual(exited);
  expect(await report(right, 'Ada', 0)).toEqual(entered);
  expect(await report(ahead, 'Ada', 1_000)).toEqual(exited);
  expect(await report(right, 'Ada', 0)).toEqual(entered);

  // Only the node whose clock is ahead has met her.
  expect(await report(ahead, 'Bea', 0)).toEqual(entered);
  const eventsOf = async (userId: string) => ok(await right.get(`/v1/events?userId=${userId}&limit=100`)).events;
  await until(async () => (await eventsOf('Ada')).length === 5 && (await eventsOf('Bea')).length === 1);
  const asked = ['Ada', 'Bea'].map(async (userId) => (await right.delete(`/v1/users/${userId}`)).status);
  expect(await Promise.all(asked)).toEqual([202, 202]);
  const isDone = ({ status }: Json): boolean => status === 'done';
  await until(async () => ok(await right.get('/v1/erasures')).erasures.every(isDone), { timeoutMs: 120_000 });
  for (const userId of ['Ada', 'Bea']) {
    expect(await eventsOf(userId), userId).toEqual([]);
    expect((await right.get(`/v1/users/${userId}`)).status, userId).toBe(404);
    // A forgotten device enters anew.
    expect(await report(right, userId, 0), userId).toEqual(entered);
  }
});
