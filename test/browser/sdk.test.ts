/**
 * The published web SDK in a browser, with only its `host` changed. The page has another origin than the API, so the
 * browser sends a preflight request before every call.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { circle, eventTypesOf, square, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';
import { closePages, hasBrowser, openPage, patientSdk, serveWebPage, sharedBrowser, type WebPage } from './browser.js';

interface Failure {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

const isRunnable = hasBrowser();
const inBrowser = describe.runIf(isRunnable);

let server: SharedServer;
let browser: Browser;
let web: WebPage;
/** Of most tests: a page in a fresh browser context takes three times the processor time. */
let shop: Page;
/** Of this test. */
let page: Page;

beforeAll(async () => {
  if (!isRunnable) return;
  [browser, web, server] = await Promise.all([sharedBrowser(), serveWebPage(), SharedServer.newProject()]);
  const backend = server.as('test_secret');
  await backend.putGeofence('shop', { ...circle(0, 0, 100), metadata: { open: true } }, 'store');
  await backend.putGeofence('mall', square(0, 0, 500), 'mall');
  shop = await open(await openPage(browser));
});

afterAll(async () => {
  await closePages();
  web?.close();
});

/** Opens the page with the SDK loaded. */
async function open(opened: Page): Promise<Page> {
  await opened.goto(web.origin);
  await opened.waitForFunction(() => 'Radar' in globalThis);
  return opened;
}

/** Loads the shop's page again for a visitor who has never been there: the SDK keeps what it knows in this storage. */
async function openAsNewVisitor(): Promise<Page> {
  await shop.evaluate('localStorage.clear()');
  return open(shop);
}

/** Calls the SDK in the page. Returns errors as values, because their classes do not leave the page. */
function call(method: string, ...args: unknown[]): Promise<{ value?: Json; failure?: Failure }> {
  return page.evaluate(
    async ({ method, args }) => {
      const { Radar } = globalThis as Json;
      try {
        return { value: await Radar[method](...args) };
      } catch (error) {
        const { name, status, message } = error as Failure;
        return { failure: { name, status, message } };
      }
    },
    { method, args },
  );
}

async function radar(method: string, ...args: unknown[]): Promise<Json> {
  const { value, failure } = await call(method, ...args);
  if (failure) throw new Error(`Radar.${method}: ${failure.name}: ${failure.message}`);
  return value;
}

const initialize = (key: string) => call('initialize', key, { host: server.address, ...patientSdk });

inBrowser('radar-sdk-js with only its host changed', () => {
  beforeEach(async () => {
    page = await openAsNewVisitor();
    await initialize(server.keys.test_publishable);
  });

  it('calls across origins', () => {
    expect(new URL(page.url()).origin).not.toBe(server.address);
  });

  it('is initialized by the snippet of the guide for migration', async () => {
    const guide = readFileSync(new URL('../../docs/migrating-from-radar.md', import.meta.url), 'utf8');
    const [, snippet = ''] = /\*\*Web:\*\*\n\n```js\n(.*?)```/s.exec(guide) ?? [];
    page = await openAsNewVisitor();
    const filledIn = snippet
      .replace('prj_live_pk_…', server.keys.test_publishable)
      .replace('https://fenceline.example.com', server.address)
      .replace(' })', `, ...${JSON.stringify(patientSdk)} })`);
    await page.evaluate(filledIn);
    const { events } = await radar('trackOnce', { ...standing(10, 10), accuracy: 20 });
    expect(events).toHaveLength(2);
  });

  it('tracks into a geofence and out again', async () => {
    const inside = await radar('trackOnce', { ...standing(10, 10), accuracy: 20 });
    expect(eventTypesOf(inside.events)).toEqual(['user.entered_geofence', 'user.entered_geofence']);
    const shop = inside.events.find((event: Json) => event.geofence.externalId === 'shop');
    expect(shop).toMatchObject({ confidence: 3, geofence: { tag: 'store', metadata: { open: true } }, live: false });
    expect(inside.user.geofences.map((geofence: Json) => geofence.externalId).sort()).toEqual(['mall', 'shop']);

    const outside = await radar('trackOnce', { ...standing(300, 0), accuracy: 20 });
    expect(eventTypesOf(outside.events)).toEqual(['user.exited_geofence']);
    expect(outside.events[0]).toMatchObject({ confidence: 3, geofence: { externalId: 'shop' } });
    expect(outside.events[0].duration).toBeGreaterThan(0);
    expect(outside.user.geofences.map((geofence: Json) => geofence.externalId)).toEqual(['mall']);
  });

  it('treats coordinates without accuracy as exact', async () => {
    const { user } = await radar('trackOnce', standing(1_000, 0));
    expect(user).toMatchObject({ locationAccuracy: 0, deviceType: 'Web', foreground: true, stopped: true });
  });

  it('returns the context of a place without storing anything', async () => {
    const context = await radar('getContext', standing(0, 0));
    expect(context.geofences.map((geofence: Json) => geofence.externalId).sort()).toEqual(['mall', 'shop']);
    expect((await radar('getContext', standing(5_000, 0))).geofences).toEqual([]);
  });

  it('finds geofences nearby', async () => {
    const near = standing(700, 0);
    const { geofences } = await radar('searchGeofences', { near, radius: 2_000, limit: 10 });
    expect(geofences.map((geofence: Json) => geofence.externalId)).toEqual(['mall', 'shop']);
    const stores = await radar('searchGeofences', { near, radius: 2_000, tags: ['store'], includeGeometry: true });
    expect(stores.geofences).toHaveLength(1);
    expect(stores.geofences[0].geometry.type).toBe('Polygon');
  });

  it('keeps the record of a device that names its user', async () => {
    const anonymous = await radar('trackOnce', { ...standing(0, 0), accuracy: 20 });
    await radar('setUserId', 'customer-1');
    const named = await radar('trackOnce', { ...standing(5, 0), accuracy: 20 });
    expect(named.user).toMatchObject({ _id: anonymous.user._id, userId: 'customer-1' });
    expect(named.events).toEqual([]);
    expect(named.user.geofences).toHaveLength(2);
  });

  it('keeps description and metadata when a later call omits them', async () => {
    await radar('setDescription', 'A regular');
    await radar('setMetadata', { plan: 'gold', visits: 3, newsletter: false });
    const told = { description: 'A regular', metadata: { plan: 'gold', visits: 3, newsletter: false } };
    expect((await radar('trackOnce', { ...standing(0, 0), accuracy: 20 })).user).toMatchObject(told);
    await radar('setDescription');
    await radar('setMetadata');
    const { user } = await radar('trackOnce', { ...standing(1, 0), accuracy: 20 });
    // A publishable key receives only what it sent itself. A secret key reads what is stored.
    expect(user).not.toHaveProperty('metadata');
    const kept = await until(async () => {
      const { body } = await server.as('test_secret').get(`/v1/users/${user._id}`);
      return body.user?.updatedAt === user.updatedAt ? body.user : undefined;
    });
    expect(kept).toMatchObject(told);
  });

  it('logs a conversion, which is listed among the events', async () => {
    await radar('setUserId', 'customer-2');
    const { event } = await radar('logConversion', { name: 'bought_shoes', revenue: 79.5, metadata: { size: 42 } });
    expect(event).toMatchObject({ type: 'bought_shoes', confidence: 3, metadata: { size: 42, revenue: 79.5 } });
    await until(async () => {
      const { body } = await server.as('test_secret').get('/v1/events?type=bought_shoes');
      return body.events.some((listed: Json) => listed._id === event._id);
    });
  });
});

/** What the SDK's types promise of an address. */
const addressShape = {
  latitude: expect.any(Number),
  longitude: expect.any(Number),
  geometry: { type: 'Point', coordinates: [expect.any(Number), expect.any(Number)] },
  layer: expect.stringMatching(
    /^(place|address|postalCode|locality|neighborhood|county|state|country|coarse|fine|street)$/,
  ),
  confidence: expect.stringMatching(/^(exact|interpolated|fallback)$/),
  formattedAddress: expect.any(String),
  countryCode: expect.stringMatching(/^[A-Z]{2}$/),
};
const florence = { latitude: 43.7731, longitude: 11.2558 };

inBrowser('searches with the embedded gazetteer and the places of the project', () => {
  beforeEach(async () => {
    page = await openAsNewVisitor();
    await initialize(server.keys.test_publishable);
  });

  it('geocode forward and reverse to addresses', async () => {
    const { addresses } = await radar('forwardGeocode', { query: 'Florence, Italy', layers: ['locality'] });
    expect(addresses[0]).toMatchObject({ ...addressShape, layer: 'locality', countryCode: 'IT' });
    expect(addresses[0].latitude).toBeCloseTo(florence.latitude, 0);
    const found = await radar('reverseGeocode', florence);
    expect(found.addresses[0]).toMatchObject({ ...addressShape, countryCode: 'IT', distance: expect.any(Number) });
  });

  it('complete the beginning of a name, near a point', async () => {
    const { addresses } = await radar('autocomplete', { query: 'Floren', near: florence, limit: 3 });
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.length).toBeLessThanOrEqual(3);
    for (const address of addresses) expect(address).toMatchObject(addressShape);
    expect(addresses[0]).toMatchObject({ countryCode: 'IT' });
  });

  it('find places by chain and category', async () => {
    const { latitude, longitude } = florence;
    const place = { name: 'Bar', geometry: { type: 'Point', coordinates: [longitude, latitude] } };
    const fields = { ...place, categories: ['cafe'], chain: { slug: 'bar', name: 'Bar' } };
    ok(await server.as('test_secret').put('/v1/places/bar', fields));
    const { places } = await radar('searchPlaces', {
      near: florence,
      radius: 500,
      chains: ['bar'],
      categories: ['cafe'],
    });
    expect(places).toEqual([
      {
        _id: 'bar',
        name: 'Bar',
        categories: ['cafe'],
        chain: { slug: 'bar', name: 'Bar' },
        location: { type: 'Point', coordinates: [longitude, latitude] },
        distance: 0,
      },
    ]);
    expect((await radar('searchPlaces', { near: florence, chains: ['other'] })).places).toEqual([]);
  });

  it('find geofences as well when they filter by metadata, which the SDK sends as "[object Object]"', async () => {
    const { geofences } = await radar('searchGeofences', { near: standing(0, 0), metadata: { open: true } });
    expect(geofences.map((geofence: Json) => geofence.externalId).sort()).toEqual(['mall', 'shop']);
  });

  it.each([
    ['distance', [{ origin: florence, destination: { latitude: 43.78, longitude: 11.26 }, modes: ['car'] }]],
    ['matrix', [{ origins: [florence], destinations: [florence], mode: 'foot' }]],
    ['ipGeocode', []],
  ])('%s without its provider rejects with the setting to configure', async (method, args) => {
    const { failure } = await call(method, ...args);
    expect(failure).toMatchObject({
      name: 'RadarBadRequestError',
      message: expect.stringMatching(/routing\.provider|geocoding\.ipDatabase/),
    });
  });
});

inBrowser('keys', () => {
  beforeEach(async () => {
    page = await openAsNewVisitor();
  });

  it('an unknown one raises an error with its own name', async () => {
    await initialize('prj_test_pk_0000000000000000000000000000000000000000');
    const { failure } = await call('trackOnce', standing(0, 0));
    expect(failure).toMatchObject({ name: 'RadarUnauthorizedError', status: 'ERROR_UNAUTHORIZED' });
  });

  it('a secret one is refused by the SDK itself', async () => {
    const { failure } = await initialize(server.keys.test_secret);
    expect(failure).toMatchObject({ name: 'RadarPublishableKeyError' });
  });

  it('an invalid request raises an error that names the field', async () => {
    await initialize(server.keys.test_publishable);
    const { failure } = await call('trackOnce', { latitude: 91, longitude: 10 });
    expect(failure).toMatchObject({ name: 'RadarBadRequestError', message: expect.stringContaining('latitude') });
  });

  it('live ones see no data of test', async () => {
    await initialize(server.keys.live_publishable);
    const { user, events } = await radar('trackOnce', { ...standing(0, 0), accuracy: 20 });
    expect(user).toMatchObject({ live: true, geofences: [] });
    expect(events).toEqual([]);
  });
});

inBrowser('the position of the browser', () => {
  it('is used when the app gives none', async () => {
    const geolocation = { ...standing(30, 0), accuracy: 25 };
    page = await open(await openPage(browser, { geolocation, permissions: ['geolocation'] }));
    await initialize(server.keys.test_publishable);
    const { user, events, location } = await radar('trackOnce');
    expect(location).toMatchObject({ accuracy: 25 });
    expect(user).toMatchObject({ locationAccuracy: 25, locationAuthorization: 'GRANTED_FOREGROUND' });
    expect(eventTypesOf(events)).toEqual(['user.entered_geofence', 'user.entered_geofence']);
    await page.context().close();
  });
});
