/** The commands of docs/erasure.md erase a user, on both backends. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { withRedis } from '../../testing/services/clients.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { ok } from '../support/client.js';
import type { TestCluster } from '../support/cluster.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/erasure.md', import.meta.url), 'utf8');
/** A name that nothing else in Redis contains. */
const name = `ada-${randomBytes(6).toString('hex')}`;
const commands = (/```bash\n([\s\S]*?)```/.exec(guide)?.[1] ?? '').replaceAll('/users/ada', `/users/${name}`);

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
});

/** Returns the keys of Redis whose name or content contains the text. */
const redisKeysWith = ({ name: prefix }: TestCluster, text: string): Promise<string[]> =>
  withRedis(services()!.redis, async (client) => {
    const keys = await client.keys(`${prefix}:*`);
    // DUMP would compress them.
    const contentOf = async (key: string): Promise<unknown> => {
      const type = await client.type(key);
      if (type === 'hash') return client.hgetall(key);
      return type === 'zset' ? client.call('ZRANGE', key, 0, -1) : client.get(key);
    };
    const contents = await Promise.all(keys.map(contentOf));
    return keys.filter((key, index) => `${key} ${JSON.stringify(contents[index])}`.includes(text));
  });

it('an erased user is gone, and starts again as a new one', async () => {
  const backend = server.as('test_secret');
  const device = server.as('test_publishable');
  await backend.putGeofence('shop', circle(0, 0, 100));
  const ada = { deviceId: `${name}-phone`, userId: name };
  const { user: before } = await device.track({ ...ada, ...standing(0, 0) });
  if (server.cluster) expect(await redisKeysWith(server.cluster, name)).not.toEqual([]);
  await device.track({ deviceId: 'bert-phone', userId: 'bert', ...standing(0, 0) });
  for (const id of [name, 'bert']) await until(async () => (await backend.get(`/v1/users/${id}`)).status === 200);
  await until(async () => ok(await backend.get('/v1/events')).events.length === 2);

  const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', commands], { env });
  expect(JSON.parse(stdout).meta.type).toBe('not_found');
  if (server.cluster) expect(await redisKeysWith(server.cluster, name)).toEqual([]);
  const { events } = ok(await backend.get('/v1/events'));
  expect(events.map((event: { user: { userId: string } }) => event.user.userId)).toEqual(['bert']);
  expect((await backend.get('/v1/users/bert')).status).toBe(200);

  const again = await device.track({ ...ada, ...standing(0, 0) });
  expect(again.user._id).not.toBe(before._id);
  expect(again.events).toHaveLength(1);
  const found = await until(async () => {
    const answer = await backend.get(`/v1/users/${name}`);
    return answer.status === 200 && answer.body.user;
  });
  expect(found._id).toBe(again.user._id);
});

it('a deleted project is gone from the stores, with the deliveries that wait', async () => {
  const doomed = await SharedServer.newProject();
  const backend = doomed.as('test_secret');
  await backend.putGeofence('shop', circle(0, 0, 100));
  // Nobody resolves this name, so that the delivery waits for its next attempt.
  const { webhook } = ok(await backend.post('/v1/webhooks', { url: 'https://webhooks.invalid/' }));
  await doomed.as('test_publishable').track({ deviceId: 'phone', ...standing(0, 0) });
  const waiting = `/v1/webhooks/${webhook._id}/deliveries`;
  await until(async () => ok(await backend.get(waiting)).deliveries.length === 1);
  await until(async () => (await backend.get('/v1/users/phone')).status === 200);
  const administrator = await doomed.administrator();
  const { project } = ok(await administrator.get(`/v1/projects/${doomed.project}`));
  const deletion = await administrator.delete(`/v1/projects/${project._id}?name=${encodeURIComponent(project.name)}`);
  expect(deletion.status).toBe(202);
  await until(async () => (await backend.get('/v1/settings')).status === 401);
  if (doomed.cluster === undefined) return;
  const { name } = doomed.cluster;
  const isShortLived = (key: string): boolean => key.startsWith(`${name}:value.`);
  await until(async () => (await redisKeysWith(doomed.cluster!, project._id)).every(isShortLived));
});
