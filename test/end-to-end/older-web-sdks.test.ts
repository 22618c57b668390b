/**
 * Calls as earlier versions of radar-sdk-js write them, by captures of some and the sources of the others. CI runs the
 * newest version itself.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Json, ok, type Sending } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
  await server.as('test_secret').putGeofence('shop', { ...circle(0, 0, 100), metadata: { open: 'yes' } }, 'store');
});

const origin = 'https://shop.example';
const metadata = { plan: 'gold', visits: 3, newsletter: false };
const near = 'near=50%2C10&radius=1000&tags=store';

/** What all of them send with a location. */
const common = (deviceId: string) => ({
  deviceId,
  accuracy: 30,
  ...standing(0, 0),
  description: null,
  metadata,
  userId: 'ada',
  deviceType: 'Web',
  foreground: true,
  stopped: true,
});

const versions: Readonly<
  Record<string, { track: object; conversion: object; geofences: string; autocomplete: string }>
> = {
  '3.0.1': {
    track: { installId: 'in a cookie' },
    conversion: { type: 'bought', deviceId: 'd' },
    geofences: `${near}&limit=10&metadata[open]=yes`,
    autocomplete: 'query=Vad&near=47.1%2C9.5&limit=3&layers=locality%2Caddress',
  },
  '3.7.1': {
    track: { installId: 'in the storage', tripOptions: null },
    conversion: { type: 'bought', metadata: { revenue: 12 }, deviceId: 'd', userId: 'ada', installId: null },
    geofences: `${near}&limit=10&metadata[open]=yes`,
    autocomplete: 'query=Vad&near=47.1%2C9.5&layers=locality&country=LI&countryCode=LI&expandUnits=true',
  },
  '4.1.11': {
    track: { installId: 'i', sessionId: '1796016943', locationAuthorization: 'GRANTED_FOREGROUND', tripOptions: null },
    conversion: { name: 'bought', userId: null, deviceId: 'd', installId: 'i', metadata: {}, createdAt: new Date() },
    geofences: `${near}&metadata=%5Bobject%20Object%5D`,
    autocomplete: 'query=Vad&near=47.1%2C9.5&limit=3&layers=locality%2Cintersection&expandUnits=true',
  },
  '4.5.8': {
    track: { installId: 'i', sessionId: '1796016943', desiredAccuracy: 'high', timeZone: 'Europe/Vaduz' },
    conversion: { name: 'bought', userId: 'ada', deviceId: 'd', installId: 'i', metadata: { revenue: 12 } },
    geofences: `${near}&metadata=%5Bobject%20Object%5D&limit=10&includeGeometry=true`,
    autocomplete:
      'query=Vad&near=47.1%2C9.5&limit=8&layers=locality&countryCode=LI&mailable=true&lang=en&postalCode=9490',
  },
};

describe.each(Object.keys(versions))('radar-sdk-js %s', (version) => {
  const { track, conversion, geofences, autocomplete } = versions[version]!;
  const headers = { origin, 'x-radar-device-type': 'Web', 'x-radar-sdk-version': version };
  const send = (method: string, path: string, sending: Sending = {}): Promise<Answer> =>
    server.as('test_publishable').send(method, path, { ...sending, headers });
  const get = async (path: string): Promise<Json> => ok(await send('GET', path));

  it('enters a geofence', async () => {
    const body = { ...common(version), ...track, sdkVersion: version };
    const { user, events } = ok(await send('POST', '/v1/track', { body }));
    expect(user).toMatchObject({ userId: 'ada', deviceId: version, metadata, sdkVersion: version });
    expect(events).toMatchObject([{ type: 'user.entered_geofence', geofence: { externalId: 'shop' } }]);
  });

  it('reports a conversion', async () => {
    const { event } = ok(await send('POST', '/v1/events', { body: conversion }));
    expect(event).toMatchObject({ type: 'bought', confidence: 3 });
  });

  it('searches', async () => {
    expect((await get(`/v1/search/geofences?${geofences}`)).geofences).toMatchObject([{ externalId: 'shop' }]);
    expect((await get(`/v1/search/autocomplete?${autocomplete}`)).addresses[0]).toMatchObject({ city: 'Vaduz' });
    expect((await get('/v1/context?coordinates=50%2C10')).context.geofences).toHaveLength(1);
  });

  it('can read that trips do not exist', async () => {
    const answer = await send('POST', '/v1/trips', { body: { userId: 'ada', externalId: 't', mode: 'car' } });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.body.meta).toMatchObject({ code: 404, message: expect.any(String) });
  });
});

it.each([
  ['4.1.11', `?publishableKey=KEY`, {}, 'text-variable-anchor'],
  ['4.5.8', '?language=de', { 'x-radar-sdk-version': '4.5.8' }, 'text-variable-anchor-offset'],
])(
  'the maps of radar-sdk-js %s have a style that their library can read',
  async (_version, query, headers, property) => {
    const path = `/maps/styles/radar-default-v1${query.replace('KEY', server.keys.test_publishable)}`;
    const { layers } = ok(await server.as('test_publishable').send('GET', path, { headers }));
    const used = new Set(layers.flatMap(({ layout = {} }: Json) => Object.keys(layout)));
    expect([...used].filter((name) => String(name).startsWith('text-variable-anchor'))).toEqual([property]);
  },
);
