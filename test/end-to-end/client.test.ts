/** The published client against a running Fenceline. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, FencelineError } from '../../client/client.js';
import { type BadNetwork, startProxy } from '../../testing/services/proxy.js';
import { until } from '../../testing/until.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let network: BadNetwork;
let client: Client;
beforeAll(async () => {
  server = await SharedServer.newProject();
  const { hostname, port } = new URL(server.address);
  network = await startProxy({ host: hostname, port: Number(port) });
  client = createClient({ address: `http://${network.host}:${network.port}`, key: server.keys.test_secret });
});
afterAll(() => network?.stop());

const putGeofence = (externalId: string) =>
  client.call('PUT /v1/geofences/{tag}/{externalId}', {
    path: { tag: 'yard', externalId },
    body: { description: externalId, type: 'circle', coordinates: [0, 0], radius: 100 },
  });

describe('the client', () => {
  it('writes, pages, edits at a revision, deletes, and gets the validator’s words', async () => {
    for (const externalId of ['a', 'b', 'c']) await putGeofence(externalId);
    const found: string[] = [];
    for await (const { externalId } of client.all('GET /v1/geofences', { query: { tag: 'yard', limit: 2 } }))
      found.push(externalId);
    expect(found.toSorted()).toEqual(['a', 'b', 'c']);
    const path = { tag: 'yard', externalId: 'c' };
    const edited = await client.call('PATCH /v1/geofences/{tag}/{externalId}', { path, body: { radius: 200 } });
    expect(edited.geofence.geometryRadius).toBe(200);
    const refused = client.call('PATCH /v1/geofences/{tag}/{externalId}', { path, body: { radius: 1 } });
    await expect(refused).rejects.toMatchObject({ status: 400, type: 'invalid_parameter', param: 'radius' });
    await expect(refused).rejects.toBeInstanceOf(FencelineError);
    await client.call('DELETE /v1/geofences/{tag}/{externalId}', { path });
    await expect(client.call('GET /v1/geofences/{tag}/{externalId}', { path })).rejects.toMatchObject({ status: 404 });
  });

  it('creates a webhook once when the first answer is lost', async () => {
    network.dropsAnswers = true;
    const created = client.call('POST /v1/webhooks', { body: { url: 'https://example.com/once' } });
    await until(() => network.droppedPieces > 0);
    network.dropsAnswers = false;
    network.cutOff();
    network.mend();
    const { webhook } = await created;
    const { webhooks } = await client.call('GET /v1/webhooks', {});
    expect(webhooks.map(({ _id }) => _id)).toEqual([webhook._id]);
  });

  it('follows events through a cut connection, without gaps or repetitions', async () => {
    await putGeofence('gate');
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const item of client.events({ from: 'earliest', tag: 'yard', signal: stop.signal }))
        if (item.kind === 'event') seen.push(item.event.user?.deviceId ?? '');
    })();
    const device = server.as('test_publishable');
    const expected: string[] = [];
    for (const deviceId of ['d1', 'd2', 'd3']) {
      const { events } = await device.track({ deviceId, latitude: 0, longitude: 0, accuracy: 5 });
      // One entry for each geofence of the yard.
      expected.push(...events.map(() => deviceId));
      await until(() => seen.length >= expected.length);
      network.cutOff();
      network.mend();
    }
    stop.abort();
    await following;
    expect(expected.length).toBeGreaterThanOrEqual(3);
    expect(seen).toEqual(expected);
  });
});
