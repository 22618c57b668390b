/**
 * Writes the data folder of a release, with a record of what its API answers, for `previous-release.test.ts`:
 *
 *   PROGRAM_UNDER_TEST=/release/dist/cli/main.js node dist/test/embedded/previous-release/write.js
 *
 * Run it when a version is released, with the program of that version, and remove the older archive once upgrades from
 * its version are no longer promised.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchServer } from '../../../server/server-process.js';
import { Receiver } from '../../../testing/receiver.js';
import { until } from '../../../testing/until.js';
import { Client, type Json, ok } from '../../support/client.js';
import { at, circle, square, standing } from '../../support/places.js';
import { program } from '../../support/program.js';
import { email, enteredAt, password, type ReleaseRecord, settingsAt, visitors, writtenAt } from './record.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', pathToFileURL(program)), 'utf8'));
const receiver = await Receiver.start();
const dataFolder = mkdtempSync(join(tmpdir(), 'fenceline-release-'));
const environment = settingsAt(writtenAt);
const server = launchServer({ program, dataFolder, environment });

/** Definitions of every kind, some of them edited, moved or deleted. */
async function define(client: Client): Promise<void> {
  await client.putGeofence('circle', { ...circle(0, 0, 100), metadata: { open: true, floors: 3, name: 'Ærø 東' } });
  await client.putGeofence('square', { ...square(0, 0, 200), description: 'before' });
  await client.putGeofence('square', { ...square(0, 0, 150), description: 'after' });
  await client.putGeofence('deleted', circle(0, 0, 100));
  ok(await client.delete('/v1/geofences/test/deleted'));
  await client.putBeacon('door', {
    type: 'ibeacon',
    uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
    major: '1',
    minor: '2',
    coordinates: at(0, 0),
  });
  ok(await client.put('/v1/settings', { minimumConfidence: 2 }));
}

async function write(): Promise<ReleaseRecord> {
  const { address, keys: firstKeys } = await server.ready;
  const adminApiKey = readFileSync(join(dataFolder, 'admin-api-key'), 'utf8').trim();
  const as = (key: string | undefined) => new Client(() => address, key);
  const client = as(firstKeys!.test_secret);
  const administrator = as(adminApiKey);
  await define(client);

  const [project] = ok(await administrator.get('/v1/projects')).projects;
  const rotation = { environment: 'test', kind: 'publishable' };
  const replacedKey = firstKeys!.test_publishable;
  const { key } = ok(await administrator.post(`/v1/projects/${project._id}/keys/rotate`, rotation)).key;
  const keys = { ...firstKeys!, test_publishable: key };
  ok(await as(undefined).post('/v1/signup', { email, password, project: 'Shop' }));

  const created = ok(await client.post('/v1/webhooks', { url: receiver.url() })).webhook;
  for (const deviceId of visitors)
    await client.track({ deviceId, userId: `user-of-${deviceId}`, ...standing(0, 0), updatedAt: enteredAt });
  // A visit that is over.
  await client.track({ deviceId: 'guest', ...standing(0, 0), updatedAt: enteredAt });
  await client.track({ deviceId: 'guest', ...standing(500, 0), updatedAt: '2050-01-01T00:00:01.000Z' });
  const events = await until(async () => {
    const { events } = ok(await client.get('/v1/events?limit=100'));
    return events.length >= 2 * (visitors.length + 2) && events;
  });
  await until(() => receiver.requests.length >= events.length);

  // From now on deliveries fail. They wait for their second attempt when the webhook is disabled.
  receiver.requests.length = 0;
  receiver.answering = (_, response) => void response.writeHead(500).end();
  await client.track({ deviceId: 'waiting', ...standing(0, 0), updatedAt: enteredAt });
  const waiting = async () => ok(await client.get(`/v1/webhooks/${created._id}/deliveries`)).deliveries;
  await until(async () => (await waiting()).filter(({ attempts }: Json) => attempts > 0).length === 2);
  ok(await client.put(`/v1/webhooks/${created._id}`, { enabled: false }));
  const pending = Object.fromEntries(
    receiver.requests.map(({ headers, body }) => [headers['webhook-id'] as string, body.toString()]),
  );
  const paths = ['/v1/geofences', '/v1/beacons', '/v1/settings', `/v1/webhooks/${created._id}`, '/v1/events?limit=100'];
  await until(async () => ok(await client.get('/v1/events?limit=100')).events.length === events.length + 2);
  const answers = Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, ok(await client.get(path))] as const)),
  );
  return {
    version,
    keys,
    replacedKey,
    adminApiKey,
    webhook: created._id,
    secret: created.secrets[0].secret,
    pending,
    answers,
  };
}

try {
  const record = await write();
  await server.stop();
  rmSync(join(dataFolder, 'basemap'), { recursive: true, force: true });
  writeFileSync(join(dataFolder, 'record.json'), JSON.stringify(record, undefined, 2));
  const archive = `data-of-${version}.tar.gz`;
  execFileSync('tar', ['-czf', archive, '--exclude=lock.mdb', '--exclude=in-use.socket', '-C', dataFolder, '.']);
  console.log(`wrote ${archive}`);
} finally {
  await server.kill();
  rmSync(dataFolder, { recursive: true });
  await receiver.close();
}
