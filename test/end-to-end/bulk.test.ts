/** Bulk locations from backends: NDJSON and Avro, valid and invalid. */
import { gzipSync } from 'node:zlib';
import avro from 'avsc';
import { beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../schemas/durations.js';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok, trackDefaults } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let backend: Client;
let devices = 0;

beforeAll(async () => {
  server = await SharedServer.newProject();
  backend = server.as('test_secret');
  await backend.putGeofence('yard', circle(0, 0, 100));
});

const newDevice = () => `truck-${++devices}`;

/** Enters and leaves the yard, once a minute until now. */
const trip = (deviceId: string, locations: number) =>
  Array.from({ length: locations }, (_, index) => ({
    deviceId,
    ...trackDefaults,
    ...standing(index % 2 === 0 ? 0 : 1_000, 0),
    updatedAt: new Date(Date.now() - (locations - index) * minuteMs).toISOString(),
  }));

/** Waits until the device has at least `count` events, and returns them. */
async function eventsOf(deviceId: string, count: number): Promise<Json[]> {
  return until(
    async () => {
      const { events } = ok(await backend.get(`/v1/events?deviceId=${deviceId}&limit=1000`));
      return events.length >= count && events;
    },
    { describe: () => `${count} events of ${deviceId}` },
  );
}

const lines = (locations: readonly object[]) => locations.map((line) => `${JSON.stringify(line)}\n`).join('');
const ndjson = { 'content-type': 'application/x-ndjson' };

describe('NDJSON', () => {
  it('is answered with counts and causes every event', async () => {
    const deviceId = newDevice();
    const { meta, accepted, rejected, rejections } = ok(await backend.bulk(trip(deviceId, 100)));
    expect({ code: meta.code, accepted, rejected, rejections }).toEqual({
      code: 200,
      accepted: 100,
      rejected: 0,
      rejections: [],
    });
    expect(await eventsOf(deviceId, 100)).toHaveLength(100);
  });

  it('keeps the order of each of many devices', async () => {
    const names = Array.from({ length: 50 }, newDevice);
    const trips = names.map((name) => trip(name, 40));
    const mixed = Array.from({ length: 40 }, (_, index) => trips.map((one) => one[index]!)).flat();
    expect(ok(await backend.bulk(mixed))).toMatchObject({ accepted: 2_000, rejected: 0 });
    for (const name of names.slice(0, 5)) {
      const events = await eventsOf(name, 40);
      expect(events.filter((event) => event.type === 'user.entered_geofence')).toHaveLength(20);
    }
  });

  it('names the first invalid lines and accepts the others', async () => {
    const deviceId = newDevice();
    const [first, second] = trip(deviceId, 2) as [Json, Json];
    const body = [
      JSON.stringify(first),
      '{"deviceId": "broken',
      JSON.stringify({ ...second, latitude: 91 }),
      JSON.stringify({ ...second, accuracy: undefined }),
      '[]',
      '',
      JSON.stringify(second),
    ].join('\n');
    const { accepted, rejected, rejections } = ok(await backend.bulk(body));
    expect({ accepted, rejected }).toEqual({ accepted: 2, rejected: 4 });
    expect(rejections.map((rejection: Json) => rejection.line)).toEqual([2, 3, 4, 5]);
    expect(rejections[1]).toMatchObject({ param: 'latitude' });
    expect(rejections[2]).toMatchObject({ param: 'accuracy' });
    expect(await eventsOf(deviceId, 2)).toHaveLength(2);
  });

  it('lists a bounded number of rejections and counts them all', async () => {
    const { accepted, rejected, rejections } = ok(await backend.bulk('{}\n'.repeat(5_000)));
    expect({ accepted, rejected }).toEqual({ accepted: 0, rejected: 5_000 });
    expect(rejections.length).toBeLessThanOrEqual(1_000);
    expect(rejections.length).toBeGreaterThan(0);
  });

  it('may lack the final line break', async () => {
    const deviceId = newDevice();
    expect(ok(await backend.bulk(lines(trip(deviceId, 4)).trimEnd()))).toMatchObject({ accepted: 4, rejected: 0 });
    expect(await eventsOf(deviceId, 4)).toHaveLength(4);
  });

  it('may be compressed', async () => {
    const deviceId = newDevice();
    const body = gzipSync(lines(trip(deviceId, 10)));
    const answer = await backend.send('POST', '/v1/locations', {
      body,
      headers: { ...ndjson, 'content-encoding': 'gzip' },
    });
    expect(ok(answer)).toMatchObject({ accepted: 10, rejected: 0 });
    expect(await eventsOf(deviceId, 10)).toHaveLength(10);
  });

  it('is 400 when the compressed data is corrupt', async () => {
    const body = gzipSync(lines(trip(newDevice(), 10))).subarray(0, 60);
    const answer = await backend.send('POST', '/v1/locations', {
      body,
      headers: { ...ndjson, 'content-encoding': 'gzip' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.meta.type).toBe('invalid_body');
  });

  it('is streamed: it may exceed the body limit of other endpoints', async () => {
    const deviceId = newDevice();
    const padding = 'x'.repeat(900);
    const locations = trip(deviceId, 12_000).map((line) => ({ ...line, padding }));
    const body = lines(locations);
    expect(body.length).toBeGreaterThan(10_000_000);
    expect(ok(await backend.bulk(body))).toMatchObject({ accepted: 12_000, rejected: 0 });
  });

  it('carries users, beacons and addresses like any track request', async () => {
    const deviceId = newDevice();
    await backend.putGeofence('private', { ...circle(5_000, 0, 100), userIds: 'ann' });
    const at = (userId: string) => ({
      ...trackDefaults,
      ...standing(5_000, 0),
      deviceId: `${deviceId}-${userId}`,
      userId,
    });
    ok(await backend.bulk([at('ann'), at('bob')]));
    const [event] = await eventsOf(`${deviceId}-ann`, 1);
    expect(event).toMatchObject({ geofence: { externalId: 'private' }, user: { userId: 'ann' } });
    const bob = await until(async () => {
      const { status, body } = await backend.get(`/v1/users/${deviceId}-bob`);
      return status === 200 && body.user;
    });
    expect(bob.geofences).toEqual([]);
  });
});

describe('an Avro object container file', () => {
  const schema = {
    type: 'record',
    name: 'Fix',
    fields: [
      { name: 'deviceId', type: 'string' },
      { name: 'latitude', type: 'double' },
      { name: 'longitude', type: 'double' },
      { name: 'accuracy', type: 'double' },
      { name: 'updatedAt', type: 'string' },
    ],
  } as const;

  function container(locations: readonly Json[], codec: 'null' | 'deflate'): Promise<Buffer> {
    const encoder = new avro.streams.BlockEncoder(avro.Type.forSchema(schema as Json), { codec });
    const chunks: Buffer[] = [];
    const whole = new Promise<Buffer>((resolve, reject) => {
      encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
      encoder.on('end', () => resolve(Buffer.concat(chunks)));
      encoder.on('error', reject);
    });
    for (const { deviceId, latitude, longitude, accuracy, updatedAt } of locations) {
      encoder.write({ deviceId, latitude, longitude, accuracy, updatedAt });
    }
    encoder.end();
    return whole;
  }
  const send = (body: Buffer) =>
    backend.send('POST', '/v1/locations', { body, headers: { 'content-type': 'application/avro' } });

  it.each(['null', 'deflate'] as const)('is read, with codec %s', async (codec) => {
    const deviceId = newDevice();
    expect(ok(await send(await container(trip(deviceId, 60), codec)))).toMatchObject({ accepted: 60, rejected: 0 });
    expect(await eventsOf(deviceId, 60)).toHaveLength(60);
  });

  it('names its invalid records', async () => {
    const deviceId = newDevice();
    const [first, second] = trip(deviceId, 2) as [Json, Json];
    const { accepted, rejected, rejections } = ok(
      await send(await container([first, { ...second, latitude: Number.NaN }], 'null')),
    );
    expect({ accepted, rejected }).toEqual({ accepted: 1, rejected: 1 });
    expect(rejections[0]).toMatchObject({ line: 2, param: 'latitude' });
  });

  it.each([
    ['is cut off', (file: Buffer) => file.subarray(0, file.length - 20)],
    ['is none at all', () => Buffer.from('not avro')],
  ])('is 400 when it %s', async (_what, broken) => {
    const answer = await send(broken(await container(trip(newDevice(), 60), 'null')));
    expect(answer.status).toBe(400);
    expect(answer.body.meta.type).toBe('invalid_body');
  });
});

describe('the endpoint', () => {
  it('accepts only secret keys', async () => {
    expect((await server.as('test_publishable').bulk([])).status).toBe(403);
  });

  it('refuses other types', async () => {
    const answer = await backend.send('POST', '/v1/locations', {
      body: 'a,b',
      headers: { 'content-type': 'text/csv' },
    });
    expect(answer.status).toBe(415);
  });

  it('treats an empty body as no locations', async () => {
    expect(ok(await backend.bulk(''))).toMatchObject({ accepted: 0, rejected: 0 });
  });
});
