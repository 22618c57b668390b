/**
 * Concurrent edits of one record at two nodes: one is applied to the result of the other, or refused and tried again.
 * Every acknowledged edit holds at every node: a replaced key is refused, an issued key works, and a deleted record is
 * gone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { type Answer, type Client, ok } from '../../support/client.js';
import { circle } from '../../support/places.js';
import { administratorAt, at } from './nodes.js';

const trials = 40;
const circleOf = (radius: number) => ({ description: 'edited', ...circle(0, 0, radius) });

const both = (key: string): readonly [Client, Client] => [at('left', key), at('right', key)];

interface Project {
  readonly id: string;
  readonly keys: Record<string, string>;
}

/** Creates a project, and resolves when both nodes know it. */
async function newProject(): Promise<Project> {
  const { project } = ok(await administratorAt('left').post('/v1/projects', { name: 'Edited' }));
  const keys = Object.fromEntries(
    project.keys.map(({ environment, kind, key }: Record<string, string>) => [`${environment} ${kind}`, key]),
  );
  const right = at('right', keys['test secret']);
  await until(async () => (await right.get('/v1/settings')).status === 200);
  return { id: project._id, keys };
}

const rotateKey = (client: Client, { id }: Project, environment: 'test' | 'live') =>
  client.post(`/v1/projects/${id}/keys/rotate`, { environment, kind: 'secret' });

/** Runs both at the same time or a moment apart, in random order. */
async function atOnce<First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  const [firstMs, secondMs] = [Math.random() * 4, Math.random() * 4];
  return Promise.all([delay(firstMs).then(first), delay(secondMs).then(second)]);
}

/** Resolves when both nodes give the same answer for as long as an edit takes to reach the other. */
async function settled(path: string, key: string): Promise<Answer> {
  const [left, right] = both(key);
  // Each request has its own id, which a failure contains.
  const text = async (client: Client) =>
    JSON.stringify((await client.get(path)).body, (name, value) => (name === 'requestId' ? undefined : value));
  // When the other node sees this later edit, it has seen all earlier ones too.
  const marker = `/v1/geofences/marker/${Math.random()}`;
  ok(await left.put(marker, circleOf(100)));
  await until(async () => (await right.get(marker)).status === 200);
  expect(await text(left)).toBe(await text(right));
  return left.get(path);
}

it('a rotated key stays refused and the new one works, whatever settings change concurrently', async () => {
  const project = await newProject();
  const [left, right] = [administratorAt('left'), administratorAt('right')];
  let key = project.keys['test secret']!;
  let liveKey = project.keys['live secret']!;
  for (let trial = 0; trial < trials; trial++) {
    const settings = { defaultDwellThreshold: 1 + trial };
    const [rotated, changed] = await atOnce(
      () => rotateKey(trial % 2 ? left : right, project, 'test'),
      () => at(trial % 2 ? 'right' : 'left', liveKey).put('/v1/settings', settings),
    );
    expect([rotated.status, changed.status]).toEqual([200, 200]);
    const { body } = await settled('/v1/settings', liveKey);
    expect(body.settings.defaultDwellThreshold).toBe(1 + trial);
    for (const client of both(key)) expect((await client.get('/v1/settings')).status).toBe(401);
    key = rotated.body.key;
    for (const client of both(key)) expect((await client.get('/v1/settings')).status).toBe(200);
    liveKey = ok(await rotateKey(left, project, 'live')).key;
    await until(async () => (await at('right', liveKey).get('/v1/settings')).status === 200);
  }
});

it('keys of two environments that are rotated concurrently both work', async () => {
  const project = await newProject();
  const [left, right] = [administratorAt('left'), administratorAt('right')];
  const keys = { test: project.keys['test secret']!, live: project.keys['live secret']! };
  for (let trial = 0; trial < trials; trial++) {
    const [test, live] = await atOnce(
      () => rotateKey(left, project, 'test'),
      () => rotateKey(right, project, 'live'),
    );
    const issued = { test: ok(test).key, live: ok(live).key };
    await settled('/v1/geofences?limit=1', issued.live);
    for (const environment of ['test', 'live'] as const) {
      for (const client of both(keys[environment])) expect((await client.get('/v1/settings')).status).toBe(401);
      for (const client of both(issued[environment])) expect((await client.get('/v1/settings')).status).toBe(200);
      keys[environment] = issued[environment];
    }
  }
});

const url = 'https://receiver.example/hook';

it('a webhook keeps a new secret and a concurrent change', async () => {
  const { keys } = await newProject();
  const [left, right] = both(keys['test secret']!);
  const { _id } = ok(await left.post('/v1/webhooks', { url })).webhook;
  const path = `/v1/webhooks/${_id}`;
  await until(async () => (await right.get(path)).status === 200);
  for (let trial = 0; trial < trials; trial++) {
    const [rotated, changed] = await atOnce(
      () => left.post(`${path}/secrets`, { overlapHours: 0 }),
      () => right.put(path, { description: `change ${trial}` }),
    );
    expect([rotated.status, changed.status]).toEqual([200, 200]);
    const { webhook } = (await settled(path, keys['test secret']!)).body;
    expect(webhook.secrets[0]._id).toBe(rotated.body.webhook.secrets[0]._id);
    expect(webhook.description).toBe(`change ${trial}`);
  }
});

it('a deleted webhook is not restored by a concurrent change', async () => {
  const { keys } = await newProject();
  const key = keys['test secret']!;
  const [left, right] = both(key);
  for (let trial = 0; trial < trials; trial++) {
    const path = `/v1/webhooks/${ok(await left.post('/v1/webhooks', { url })).webhook._id}`;
    await until(async () => (await right.get(path)).status === 200);
    const [deleted, changed] = await atOnce(
      () => left.delete(path),
      () => right.put(path, { description: 'changed' }),
    );
    expect(deleted.status).toBe(200);
    expect([200, 404]).toContain(changed.status);
    expect((await settled(path, key)).status).toBe(404);
  }
});

it('a deleted geofence is not restored by an update by id, but is created by an upsert', async () => {
  const { keys } = await newProject();
  const key = keys['test secret']!;
  const [left, right] = both(key);
  for (let trial = 0; trial < trials; trial++) {
    const pair = `/v1/geofences/test/${trial}`;
    const { _id, createdAt } = ok(await left.put(pair, circleOf(100))).geofence;
    const path = `/v1/geofences/${_id}`;
    await until(async () => (await right.get(path)).status === 200);
    const byId = trial % 2 === 0;
    const [deleted, changed] = await atOnce(
      () => left.delete(path),
      () => right.put(byId ? path : pair, circleOf(200)),
    );
    expect(deleted.status).toBe(200);
    expect(byId ? [200, 404] : [200]).toContain(changed.status);
    const after = await settled(path, key);
    if (byId) expect(after.status).toBe(404);
    else if (after.status === 200) expect(after.body.geofence.createdAt).not.toBe(createdAt);
  }
});
