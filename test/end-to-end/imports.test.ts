/** Imports on a running server: every node knows their changes. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Client, type Json, ok } from '../support/client.js';
import { standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let backend: Client;

beforeAll(async () => {
  server = await SharedServer.newProject();
  backend = server.as('test_secret');
});

const header = 'description,type,tag,externalId,coordinates,radius\n';
const shopAt = (name: string, x: number) => {
  const { longitude, latitude } = standing(x, 0);
  return `Shop ${name},circle,import,${name},"[${longitude},${latitude}]",100\n`;
};
const csv = { 'content-type': 'text/csv' };
const send = (body: string, query = '?wait=60') =>
  backend.send('POST', `/v1/geofences/import${query}`, { body, headers: csv });

describe('an import', () => {
  it('takes effect on locations that follow it', async () => {
    const { import: result } = ok(await send(header + shopAt('near', 0) + shopAt('far', 5_000)));
    expect(result).toMatchObject({ status: 'completed', created: 2 });
    const { events } = await backend.track({ deviceId: 'import-visitor', ...standing(0, 0) });
    expect(events.map(({ type, geofence }: Json) => [type, geofence?.externalId])).toContainEqual([
      'user.entered_geofence',
      'near',
    ]);
  });

  it('of thousands of rows is answered while it runs, and its stream ends with it', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => shopAt(`many-${index}`, 100_000 + index)).join('');
    const { status, body } = await send(header + rows, '?wait=0');
    expect([200, 202]).toContain(status);
    const stream = await backend.get(`/v1/imports/${body.import._id}/stream`);
    const last = stream.body.trim().split('\n\n').at(-1);
    expect(last.split('\n')[0]).toBe('event: end');
    expect(JSON.parse(last.split('data: ')[1])).toMatchObject({ status: 'completed', created: 3_000, lastLine: 3_001 });
    expect(ok(await send(header + rows))).toMatchObject({ import: { created: 0, unchanged: 3_000 } });
    const { imports } = ok(await backend.get('/v1/imports?resource=geofences&limit=2'));
    expect(imports.map(({ unchanged }: Json) => unchanged)).toEqual([3_000, 0]);
  });
});
