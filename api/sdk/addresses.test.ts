import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGazetteer } from '../../providers/geocoding/gazetteer/gazetteer.js';
import type { Geocoder } from '../../providers/geocoding/geocoder.js';
import { createIpGeocoder } from '../../providers/geocoding/ip-database.js';
import { londonEntry, mmdbFile } from '../../providers/geocoding/testing/mmdb.js';
import { useApi } from '../testing/fixtures.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-addresses-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const database = join(folder, 'city.mmdb');
writeFileSync(database, mmdbFile({ '81.2.69.0/24': londonEntry }));

/** The texts that were searched for. */
const searched: string[] = [];
const gazetteer = createGazetteer();
const geocoder: Geocoder = {
  ...gazetteer,
  forward(project, query, options) {
    searched.push(query);
    return gazetteer.forward(project, query, options);
  },
  autocomplete(project, query, options) {
    searched.push(query);
    return gazetteer.autocomplete(project, query, options);
  },
};
const api = await useApi({
  geometrySources: { geocoder },
  ipGeocoder: createIpGeocoder(database),
});
const bare = await useApi();
const key = api.project.key('test', 'publishable');
const get = async (path: string) => {
  const { status, body } = await api.call('GET', path, { key });
  return { status, ...body };
};

describe('geocoding', () => {
  test('forward has the shape that SDKs read', async () => {
    const { status, addresses } = await get('/v1/geocode/forward?query=Paris%2C%20TX&limit=1');
    expect(status).toBe(200);
    expect(addresses).toEqual([
      {
        latitude: expect.closeTo(33.66, 1),
        longitude: expect.closeTo(-95.55, 1),
        geometry: { type: 'Point', coordinates: [addresses[0].longitude, addresses[0].latitude] },
        layer: 'locality',
        confidence: 'exact',
        formattedAddress: 'Paris, TX, United States',
        addressLabel: 'Paris',
        city: 'Paris',
        state: 'Texas',
        stateCode: 'TX',
        country: 'United States',
        countryCode: 'US',
        countryFlag: '🇺🇸',
      },
    ]);
  });

  test('filters by country and layer, as the web SDK sends them', async () => {
    expect((await get('/v1/geocode/forward?query=Paris&country=us')).addresses[0].countryCode).toBe('US');
    expect((await get('/v1/geocode/forward?query=Paris&layers=address,place')).addresses).toEqual([]);
    expect((await get('/v1/geocode/forward?query=Paris&layers=coarse')).addresses).not.toEqual([]);
  });

  // Regression: the web SDK 4.1 has this layer in its types, and the whole search was refused.
  test('finds nothing in the layer of intersections, and what is in the other layers', async () => {
    const parameters = 'query=Paris&limit=1';
    const { addresses } = await get(`/v1/geocode/forward?${parameters}&layers=locality,intersection`);
    expect(addresses).toEqual((await get(`/v1/geocode/forward?${parameters}&layers=locality`)).addresses);
    for (const call of [
      'geocode/forward?query=Paris',
      'search/autocomplete?query=Par',
      'geocode/reverse?coordinates=48.86,2.35',
    ])
      expect(await get(`/v1/${call}&layers=intersection`)).toMatchObject({ status: 200, addresses: [] });
  });

  test('in reverse tells the distance', async () => {
    const { addresses } = await get('/v1/geocode/reverse?coordinates=48.86,2.35&limit=1');
    expect(addresses[0]).toMatchObject({ countryCode: 'FR', distance: expect.any(Number) });
    expect(addresses[0].distance).toBeLessThan(5_000);
  });

  test('completes, nearest first where it is asked near', async () => {
    const { addresses } = await get('/v1/search/autocomplete?query=Vad&near=47.1,9.5&countryCode=LI');
    expect(addresses[0]).toMatchObject({ city: 'Vaduz', distance: expect.any(Number) });
  });

  // All of these were refused, so autocomplete failed in apps that used one of these options of their SDK.
  test.each([
    ['web', 'countryCode=LI&expandUnits=true&mailable=true&postalCode=9490&sessionToken=7d1c'],
    ['iOS', 'layers=locality&limit=10&country=LI&mailable=true'],
    ['Android', 'layers=locality&limit=10&country=LI&mailable=false'],
  ])('completes with the options of the %s SDK', async (_, parameters) => {
    const { status, addresses } = await get(`/v1/search/autocomplete?query=V&${parameters}`);
    expect(status).toBe(200);
    expect(addresses).not.toEqual([]);
    for (const address of addresses) expect(address.countryCode).toBe('LI');
  });

  test('places are found with the countries that mobile SDKs send', async () => {
    const path = '/v1/search/places?near=47.100000,9.500000&radius=1000&limit=10&categories=cafe&country=LI,CH';
    expect(await get(path)).toMatchObject({ status: 200, places: [] });
  });

  // The SDK for Android writes a limit that the app has not set as `null`, and the web SDK each parameter. They were
  // refused.
  test.each([
    ['search/autocomplete?query=Vaduz', 'limit=null'],
    ['search/places?near=50,10', 'limit=null&radius=null'],
  ])('regression: takes null as not given: %s', async (call, nulls) => {
    expect(await get(`/v1/${call}&${nulls}`)).toEqual(await get(`/v1/${call}`));
  });

  // Mobile SDKs do not escape `&`. The text after it was refused as an unknown parameter.
  test.each(['geocode/forward', 'search/autocomplete'])('regression: %s takes a text with &', async (call) => {
    expect(await get(`/v1/${call}?query=5th%20&%20Main&limit=1`)).toMatchObject({ status: 200, addresses: [] });
    expect(searched.at(-1)).toBe('5th & Main');
    const misspelt = await get(`/v1/${call}?query=Paris&layer=country`);
    expect(misspelt.meta.param).toBe('layer');
  });

  test('a click is accepted', async () => {
    const body = { requestId: 'r', resultIndex: 0 };
    expect((await api.call('POST', '/v1/search/autocomplete/click', { key, body })).status).toBe(200);
  });

  test.each([
    ['/v1/geocode/forward', 'query'],
    [`/v1/geocode/forward?query=${'x'.repeat(513)}`, 'query'],
    ['/v1/geocode/forward?query=x&country=USA', 'country'],
    ['/v1/geocode/forward?query=x&layers=planet', 'layers'],
    ['/v1/geocode/forward?query=x&limit=101', 'limit'],
    ['/v1/geocode/reverse', 'coordinates'],
    ['/v1/geocode/reverse?coordinates=91,0', 'coordinates'],
    ['/v1/geocode/ip?ip=localhost', 'ip'],
    ['/v1/search/autocomplete?query=x&near=here', 'near'],
    ['/v1/search/places', 'near'],
    ['/v1/search/places?near=0,0&radius=10001', 'radius'],
  ])('%s is refused', async (path, param) => {
    expect(await get(path)).toMatchObject({ status: 400, meta: { type: 'invalid_parameter', param } });
  });
});

describe('geocoding by IP address', () => {
  test('finds a known address', async () => {
    expect(await get('/v1/geocode/ip?ip=81.2.69.160')).toMatchObject({
      status: 200,
      ip: '81.2.69.160',
      proxy: false,
      address: { latitude: 51.5142, longitude: -0.0931, city: 'London', countryCode: 'GB', countryFlag: '🇬🇧' },
    });
  });

  test("uses the caller's address, which may be unknown", async () => {
    const { meta, ...answer } = await get('/v1/geocode/ip');
    expect(answer).toEqual({ status: 200, ip: '127.0.0.1', proxy: false });
  });
});

// A node that listens on :: sees IPv4 callers as ::ffff:81.2.69.160, which a database of IPv4 did not know.
test('regression: an IPv4 address in the form of IPv6 is found, of the caller and as a parameter', async () => {
  const found = { ip: '81.2.69.160', address: { city: 'London' } };
  const mapped = '::ffff:81.2.69.160';
  const { body } = await api.call('GET', '/v1/geocode/ip', { key, remoteAddress: mapped });
  expect(body).toMatchObject(found);
  expect(await get(`/v1/geocode/ip?ip=${mapped}`)).toMatchObject(found);
});

describe('places near a point', () => {
  beforeAll(async () => {
    const place = (id: string, longitude: number, rest: object = {}) => ({
      _id: id,
      name: id,
      geometry: { type: 'Point', coordinates: [longitude, 50] },
      ...rest,
    });
    const places = [
      place('near', 10, { categories: ['food', 'cafe'], chain: { slug: 'acme', name: 'Acme' }, address: 'Main 1' }),
      place('middle', 10.002, { categories: ['bank'] }),
      place('far', 10.1),
    ];
    await api.call('POST', '/v1/places/batch', { body: { places } });
  });
  const namesOf = async (query: string) =>
    (await get(`/v1/search/places?near=50,10${query}`)).places.map(({ _id }: { _id: string }) => _id);

  test('have the shape that SDKs read', async () => {
    const { places } = await get('/v1/search/places?near=50,10&limit=1');
    expect(places).toEqual([
      {
        _id: 'near',
        name: 'near',
        categories: ['food', 'cafe'],
        chain: { slug: 'acme', name: 'Acme' },
        address: { formattedAddress: 'Main 1' },
        location: { type: 'Point', coordinates: [10, 50] },
        distance: 0,
      },
    ]);
  });

  test('are nearest first, within the radius, and filtered', async () => {
    expect(await namesOf('')).toEqual(['near', 'middle']);
    expect(await namesOf('&radius=10000')).toEqual(['near', 'middle', 'far']);
    expect(await namesOf('&categories=bank,museum')).toEqual(['middle']);
    expect(await namesOf('&groups=cafe')).toEqual(['near']);
    expect(await namesOf('&chains=acme')).toEqual(['near']);
    expect(await namesOf('&chains=acme&categories=bank')).toEqual([]);
  });

  test('of another environment are not found', async () => {
    const live = api.project.key('live', 'publishable');
    expect((await api.call('GET', '/v1/search/places?near=50,10', { key: live })).body.places).toEqual([]);
  });
});

test.each([
  ['/v1/geocode/forward?query=Paris', 'geocoding.provider'],
  ['/v1/geocode/reverse?coordinates=0,0', 'geocoding.provider'],
  ['/v1/search/autocomplete?query=Par', 'geocoding.provider'],
  ['/v1/geocode/ip', 'geocoding.ipDatabase'],
])('without a provider %s names the setting %s', async (path, setting) => {
  expect(await bare.call('GET', path)).toMatchObject({
    status: 400,
    body: { meta: { type: 'not_available', message: expect.stringContaining(setting) } },
  });
});
