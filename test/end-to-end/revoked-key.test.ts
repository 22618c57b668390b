/**
 * A key that is revoked changes nothing any more, also by a request that began before. A request is authorized by its
 * head: a client that sent the body slowly could still send locations and events, disable or delete geofences, write
 * places, erase users, deliver events again and start the demo.
 */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { ok } from '../support/client.js';
import { at, circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const json = 'application/json';
/** They check the authority themselves, because their bodies arrive while they run. */
const streamed = ['POST /v1/locations', 'POST /v1/geofences/import', 'POST /v1/beacons/import'];

const fence = { description: 'mine', ...circle(0, 0, 100) };
const place = { _id: 'duomo', name: 'Duomo', geometry: { type: 'Point', coordinates: at(0, 0) } };
const beacon = { type: 'eddystone', uid: '00112233445566778899', instance: 'aabbccddeeff', coordinates: at(0, 0) };

/** A request whose body is still under way. */
interface Begun {
  readonly sent: ClientRequest;
  readonly status: Promise<number>;
}

/** Sends the head of a request, and resolves when the server asks for the body. */
async function begin({ address, keys }: SharedServer, method: string, path: string, type = json): Promise<Begun> {
  const headers = { authorization: keys.test_secret, 'content-type': type, expect: '100-continue' };
  const sent = request(`${address}${path}`, { method, headers: { ...headers, 'transfer-encoding': 'chunked' } });
  const status = once(sent, 'response').then(([response]) => {
    (response as IncomingMessage).resume();
    return (response as IncomingMessage).statusCode!;
  });
  await once(sent, 'continue');
  return { sent, status };
}

function finish({ sent, status }: Begun, body: object | string): Promise<number> {
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  return status;
}

it('a request that began before its key was revoked changes nothing afterwards', async () => {
  const server = await SharedServer.newProject();
  const before = server.as('test_secret');
  const { _id: fenceId } = await before.putGeofence('a', circle(0, 0, 100), 'mine');
  const { _id: beaconId } = await before.putBeacon('a', beacon, 'mine');
  const { webhook } = ok(await before.post('/v1/webhooks', { url: 'https://webhooks.invalid/' }));
  const webhookId: string = webhook._id;
  const edits: [method: string, path: string, body: object | string, type?: string][] = [
    ['POST', '/v1/geofences/bulk', { action: 'delete', ids: [fenceId] }],
    ['POST', '/v1/geofences/bulk', { action: 'disable', ids: [fenceId] }],
    ['POST', '/v1/beacons/bulk', { action: 'delete', ids: [beaconId] }],
    ['POST', '/v1/geofences/batch', { geofences: [{ ...fence, tag: 'mine', externalId: 'b' }] }],
    ['PUT', '/v1/geofences/mine/a', { ...fence, description: 'theirs' }],
    [
      'POST',
      '/v1/geofences/import',
      `${JSON.stringify({ ...fence, tag: 'mine', externalId: 'c' })}\n`,
      'application/x-ndjson',
    ],
    ['POST', '/v1/places/batch', { places: [place] }],
    ['PUT', '/v1/places/duomo', place],
    ['PUT', '/v1/settings', { minimumConfidence: 2 }],
    ['POST', '/v1/webhooks', { url: 'https://webhooks.invalid/' }],
    ['DELETE', '/v1/users/ada', {}],
    ['DELETE', '/v1/events/65f0a1b2c3d4e5f600000001', {}],
    ['POST', '/v1/track', { deviceId: 'phone', ...standing(0, 0), accuracy: 5 }],
    ['POST', '/v1/track/replay', { replays: [{ deviceId: 'phone', ...standing(0, 0), accuracy: 5 }] }],
    ['POST', '/v1/events', { name: 'bought', deviceId: 'phone' }],
    ['POST', `/v1/webhooks/${webhookId}/redeliver`, { after: '2020-01-01', before: '2030-01-01' }],
    ['POST', '/v1/demo', {}],
    [
      'POST',
      '/v1/locations',
      `${JSON.stringify({ deviceId: 'phone', ...standing(0, 0), accuracy: 5 })}\n`,
      'application/x-ndjson',
    ],
  ];
  const begun = await Promise.all(edits.map(([method, path, , type]) => begin(server, method, path, type)));

  const administrator = await server.administrator();
  const rotation = { environment: 'test', kind: 'secret' };
  const { key } = ok(await administrator.post(`/v1/projects/${server.project}/keys/rotate`, rotation));
  const states = await Promise.all(edits.map(([, , body], index) => finish(begun[index]!, body)));
  expect(states.map((status, index) => `${edits[index]![0]} ${edits[index]![1]} ${status}`)).toEqual(
    edits.map(([method, path]) => `${method} ${path} 401`),
  );

  const after = server.withKey(key);
  expect(ok(await after.get('/v1/geofences')).geofences).toMatchObject([
    { externalId: 'a', description: 'a', enabled: true },
  ]);
  expect(ok(await after.get('/v1/beacons')).beacons).toHaveLength(1);
  expect(ok(await after.get('/v1/places')).places).toEqual([]);
  expect(ok(await after.get('/v1/webhooks')).webhooks).toHaveLength(1);
  expect(ok(await after.get('/v1/demo')).demo.running).toBe(false);
  expect(ok(await after.get('/v1/erasures')).erasures).toEqual([]);
});

it('every route that may change something checks the key again when the body has arrived', async () => {
  const server = await SharedServer.newProject();
  const { paths } = ok(await server.as('test_secret').get('/openapi.json'));
  const routes = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'get')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const begun: (readonly [route: string, begun: Begun])[] = [];
  for (const route of routes.filter((route) => !streamed.includes(route))) {
    const [method, path] = route.split(' ') as [string, string];
    begun.push([route, await begin(server, method, path.replaceAll(/\{\w+\}/g, 'x'))]);
  }

  const administrator = await server.administrator();
  const rotation = { environment: 'test', kind: 'secret' };
  ok(await administrator.post(`/v1/projects/${server.project}/keys/rotate`, rotation));
  const answers = await Promise.all(begun.map(async ([route, each]) => ({ route, status: await finish(each, {}) })));
  const refused = answers.filter(({ status }) => status === 401).map(({ route }) => route);
  expect(refused).toEqual(expect.arrayContaining(['POST /v1/track', 'DELETE /v1/geofences/{id}', 'POST /v1/demo']));
  // The others require no key, or were refused at once, because they require more than a key of a project.
  const requiresNone = /signup|signin|password.reset|invitations.(accept|preview)/;
  const others = answers.filter(({ route, status }) => status !== 401 && !requiresNone.test(route));
  expect(others.filter(({ status }) => status !== 403)).toEqual([]);
});
