/**
 * A key that is revoked changes nothing any more, also by a request that began before. A request is authorized by its
 * head: a client that sent the body slowly could still disable or delete geofences, write places and erase users.
 */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { ok } from '../support/client.js';
import { at, circle } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const fence = { description: 'mine', ...circle(0, 0, 100) };
const place = { _id: 'duomo', name: 'Duomo', geometry: { type: 'Point', coordinates: at(0, 0) } };
const beacon = { type: 'eddystone', uid: '00112233445566778899', instance: 'aabbccddeeff', coordinates: at(0, 0) };

/** Sends the head of a request, and resolves when the server asks for the body. */
async function begin({ address, keys }: SharedServer, method: string, path: string, type: string) {
  const headers = { authorization: keys.test_secret, 'content-type': type, expect: '100-continue' };
  const sent = request(`${address}${path}`, { method, headers: { ...headers, 'transfer-encoding': 'chunked' } });
  await once(sent, 'continue');
  return sent;
}

async function finish(sent: ClientRequest, body: object | string): Promise<number> {
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = await answered;
  response.resume();
  return response.statusCode!;
}

it('a request that began before its key was revoked changes nothing afterwards', async () => {
  const server = await SharedServer.newProject();
  const before = server.as('test_secret');
  const { _id: fenceId } = await before.putGeofence('a', circle(0, 0, 100), 'mine');
  const { _id: beaconId } = await before.putBeacon('a', beacon, 'mine');
  const json = 'application/json';
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
  ];
  const begun = await Promise.all(edits.map(([method, path, , type = json]) => begin(server, method, path, type)));

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
  expect(ok(await after.get('/v1/webhooks')).webhooks).toEqual([]);
  expect(ok(await after.get('/v1/erasures')).erasures).toEqual([]);
});
