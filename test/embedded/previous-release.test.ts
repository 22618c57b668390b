/**
 * docs/upgrading.md: this version starts on the data folder that each earlier release left behind. It has the
 * definitions, keys, accounts, events and waiting deliveries, and continues the visits.
 *
 * The folders are recorded: `previous-release/write.ts` says how.
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { placeBasemap } from '../support/basemap.js';
import { type Json, ok } from '../support/client.js';
import { standing } from '../support/places.js';
import { TestServer } from '../support/server.js';
import {
  email,
  leftAt,
  password,
  type ReleaseRecord,
  readAt,
  settingsAt,
  visitors,
} from './previous-release/record.js';

const folder = fileURLToPath(new URL('previous-release/', import.meta.url));
const archives = readdirSync(folder).filter((name) => name.endsWith('.tar.gz'));

/** Starts this version on a recorded folder. */
async function startOn(archive: string): Promise<{ server: TestServer; record: ReleaseRecord }> {
  const server = await TestServer.start(settingsAt(readAt), async (dataFolder) => {
    execFileSync('tar', ['-xzf', join(folder, archive), '-C', dataFolder]);
    await placeBasemap(dataFolder);
  });
  onTestFinished(() => server.dispose());
  return { server, record: JSON.parse(readFileSync(join(server.dataFolder, 'record.json'), 'utf8')) };
}

/** Returns an answer with its events by id: release 0.1.0 listed events of one time in another order. */
const eventsById = (answer: Json): Json =>
  answer.events === undefined
    ? answer
    : { ...answer, events: answer.events.toSorted((a: Json, b: Json) => a._id.localeCompare(b._id)) };

it.each(archives)('%s: nothing is lost, visits continue, and waiting deliveries are sent', async (archive) => {
  const { server, record } = await startOn(archive);
  const { keys, replacedKey, adminApiKey, webhook, secret, pending, answers } = record;
  const client = server.withKey(keys.test_secret);

  // Later versions may add fields.
  for (const [path, answer] of Object.entries(answers))
    expect(eventsById(ok(await client.get(path))), path).toMatchObject(eventsById(answer));
  const { schemaId } = ok(await client.get('/v1/topics/events/schema'));
  const { records } = ok(await client.get('/v1/topics/events?limit=1000'));
  const inTopic = records.map(({ event }: Json) => event._id);
  const inHistory = answers['/v1/events?limit=100'].events.map(({ _id }: Json) => _id);
  expect(inTopic.toSorted()).toEqual(inHistory.toSorted());
  expect(records.map((record: Json) => record.schemaId)).toEqual(inTopic.map(() => schemaId));
  for (const key of Object.values(keys)) {
    const { status } = await server.withKey(key).get('/v1/search/geofences?near=50,10');
    expect(status).toBe(200);
  }
  expect((await server.withKey(replacedKey).get('/v1/search/geofences?near=50,10')).status).toBe(401);
  expect(ok(await server.withKey(adminApiKey).get('/v1/projects')).projects).toHaveLength(2);
  ok(await server.withKey(undefined).post('/v1/signin', { email, password }));
  expect((await server.withKey(undefined).post('/v1/signin', { email, password: 'wrong' })).status).toBe(401);

  for (const deviceId of visitors) {
    const { events } = await client.track({
      deviceId,
      userId: `user-of-${deviceId}`,
      ...standing(5_000, 0),
      updatedAt: leftAt,
    });
    const exits = events.map(({ type, duration, geofence }: Json) => [type, geofence.externalId, duration]);
    const dayMinutes = 24 * 60;
    expect(exits.sort()).toEqual([
      ['user.exited_geofence', 'circle', dayMinutes],
      ['user.exited_geofence', 'square', dayMinutes],
    ]);
  }
  const before: Json[] = answers['/v1/events?limit=100'].events;
  await until(async () => {
    const { events } = ok(await client.get('/v1/events?limit=100'));
    return events.length === before.length + 2 * visitors.length;
  });

  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  ok(await client.put(`/v1/webhooks/${webhook}`, { enabled: true, url: receiver.url() }));
  const ids = Object.keys(pending);
  await until(() => receiver.requests.length >= ids.length);
  for (const { headers, body } of receiver.requests) {
    const id = headers['webhook-id'] as string;
    expect(body.toString()).toBe(pending[id]);
    const signed = `${id}.${headers['webhook-timestamp']}.${body}`;
    const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(signed);
    expect(headers['webhook-signature']).toBe(`v1,${signature.digest('base64')}`);
  }
  expect(receiver.requests).toHaveLength(ids.length);
});
