import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Position } from '../../schemas/json/common.js';
import { anyCharacter } from '../../testing/any-character.js';
import { createGeocoder, type GeocodingSettings } from './create.js';
import { createGazetteer } from './gazetteer/gazetteer.js';
import { type Address, type Geocoder, type GeocodingResult, selected } from './geocoder.js';
import type { Turns } from './request-queue.js';
import { services } from './services.js';
import { type LocalService, type ServiceName, startServer, startService } from './testing/recorded.js';

const everyTurn: Turns = { put: async () => true };
const settings: GeocodingSettings = {
  provider: 'photon',
  url: '',
  apiKey: '',
  userAgent: 'Fenceline/test (operator@example.com)',
  timeoutMs: 30_000,
  maxWaitMs: 30_000,
  maxRequestsPerSecond: 0,
  maxCachedAnswers: 100,
  cacheHours: 1,
};

const project = 'project';

type Given = Partial<GeocodingSettings> & { readonly clock?: () => number };

function open({ clock, ...given }: Given, turns = everyTurn): Geocoder {
  const geocoder = createGeocoder({ ...settings, ...given }, turns, clock)!;
  onTestFinished(() => geocoder.close());
  return geocoder;
}

function addresses(result: GeocodingResult): readonly Address[] {
  if (!result.ok) throw result.error;
  return result.value;
}

const paris = [-95.555513, 33.6617962] as const;
const names = Object.keys(services) as ServiceName[];

/** Data of the embedded gazetteer, loaded once. */
const gazetteer = createGazetteer();

async function openAny(name: ServiceName | 'gazetteer'): Promise<Geocoder> {
  return name === 'gazetteer' ? gazetteer : open({ provider: name, url: (await startService(name)).url });
}

test('a postal code leaves out addresses of another one', () => {
  const addressIn = (postalCode?: string): Address => ({
    position: [...paris],
    layer: 'address',
    confidence: 'exact',
    formattedAddress: 'Paris',
    ...(postalCode !== undefined && { postalCode }),
  });
  const all = [addressIn('SW1A 1AA'), addressIn('SW1A 2AA'), addressIn()];
  expect(selected(all, { limit: 5, postalCode: 'sw1a1aa' })).toEqual([all[0], all[2]]);
});

describe.each(['gazetteer', ...names] as const)('every geocoder: %s', (name) => {
  test('finds a town by its name and region', async () => {
    const geocoder = await openAny(name);
    const [first] = addresses(await geocoder.forward(project, 'Paris, TX', { limit: 5 }));
    expect(first).toMatchObject({
      layer: 'locality',
      confidence: 'exact',
      city: 'Paris',
      state: 'Texas',
      countryCode: 'US',
    });
    expect(first!.position[0]).toBeCloseTo(paris[0], 1);
    expect(first!.position[1]).toBeCloseTo(paris[1], 1);
    expect(first!.formattedAddress).toMatch(/^Paris, /);
  });

  test('answers a query that it does not know with no addresses', async () => {
    const geocoder = await openAny(name);
    expect(addresses(await geocoder.forward(project, 'Xyzzyville', { limit: 5 }))).toEqual([]);
    expect(addresses(await geocoder.reverse(project, [-40, 0], { limit: 5 }))).toEqual([]);
  });

  test('names the town at a position', async () => {
    const geocoder = await openAny(name);
    const [first] = addresses(await geocoder.reverse(project, [...paris], { limit: 1 }));
    expect(first).toMatchObject({ city: 'Paris', state: 'Texas' });
  });

  test('leaves out other countries and layers', async () => {
    const geocoder = await openAny(name);
    expect(addresses(await geocoder.forward(project, 'Paris', { limit: 5, countries: ['JP'] }))).toEqual([]);
    expect(addresses(await geocoder.forward(project, 'Paris, TX', { limit: 5, layers: ['address'] }))).toEqual([]);
    expect(addresses(await geocoder.forward(project, 'Paris, TX', { limit: 1, layers: ['locality'] }))).toHaveLength(1);
  });

  test('completes a name, or names the setting of a provider that does', async () => {
    const geocoder = await openAny(name);
    const result = await geocoder.autocomplete(project, 'Pari', { limit: 5 });
    if (name === 'nominatim') {
      expect(result).toMatchObject({ ok: false, error: { code: 'not_available', message: /geocoding\.provider/ } });
    } else expect(addresses(result).map(({ city }) => city)).toContain('Paris');
  });

  test('any query is answered without an exception', async () => {
    const geocoder = await openAny(name);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 40 }), async (query) => {
        const { ok } = await geocoder.forward(project, query.toWellFormed(), { limit: 3 });
        expect(ok).toBe(true);
      }),
      { numRuns: name === 'gazetteer' ? 200 : 20 },
    );
  });
});

describe.each(names)('%s', (name) => {
  test('reads a house with all its parts', async () => {
    const geocoder = await openAny(name);
    const [house] = addresses(await geocoder.forward(project, '841 Broadway, New York', { limit: 1 }));
    expect(house).toMatchObject({
      position: [-73.991, 40.7316],
      layer: 'address',
      confidence: 'exact',
      number: '841',
      street: 'Broadway',
      neighborhood: 'Greenwich Village',
      city: 'New York',
      county: 'New York County',
      state: 'New York',
      postalCode: '10003',
      country: 'United States',
      countryCode: 'US',
    });
  });

  test('marks a town that is found for a house as a fallback', async () => {
    const geocoder = await openAny(name);
    const [town] = addresses(await geocoder.forward(project, 'Paris 12, Nowhere Street', { limit: 1 }));
    expect(town).toMatchObject({ layer: 'locality', confidence: 'fallback' });
  });

  test('names the application, accepts a base URL with a path, and sends no empty key', async () => {
    const service = await startServer((_, response) => response.end('[]'));
    const geocoder = open({ provider: name, url: `${service.url}/maps/` });
    await geocoder.forward(project, 'Zürich & Genève', { limit: 1, language: 'de' });
    const [request] = service.requests;
    expect(request!.headers['user-agent']).toBe(settings.userAgent);
    expect(request!.url).toMatch(/^\/maps\/[a-z1/]+\?/);
    expect(request!.url).toContain('Z%C3%BCrich+%26+Gen%C3%A8ve');
    expect(request!.url).not.toContain('api_key');
  });

  test.each([
    ['text that is no JSON', 200, '<html>busy</html>'],
    ['another shape', 200, '{"features":7}'],
    ['a result without a position', 200, '{"features":[{}]}'],
    ['a position beyond the poles', 200, '[{"lat":"91","lon":"0","display_name":"x"}]'],
    ['500', 500, 'oops'],
    ['429', 429, ''],
    ['401', 401, ''],
    ['403', 403, 'forbidden'],
    ['408', 408, ''],
    ['a redirect', 302, ''],
    ['an answer without end', 200, `["${'x'.repeat(2 ** 21)}`],
  ])('reports %s as unavailable', async (_, status, body) => {
    const { url } = await startServer((__, response) => response.writeHead(status).end(body));
    const result = await open({ provider: name, url }).forward(project, 'Paris', { limit: 1 });
    expect(result).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });
});

// Every digit counted as a house number, so streets and towns that the service had found as a whole became fallbacks,
// and addresses of geofences in them were refused as not found.
describe('regression: a number of the query that is not of a house', () => {
  const found = (type: string, parts: Readonly<Record<string, string>>) => ({
    nominatim: [
      {
        lat: '52.5',
        lon: '13.3',
        place_rank: type === 'street' ? 26 : 16,
        display_name: Object.values(parts).join(', '),
        address: { city: parts.city, postcode: parts.postcode, road: type === 'street' ? parts.name : undefined },
      },
    ],
    photon: { features: [{ geometry: { coordinates: [13.3, 52.5] }, properties: { type, ...parts } }] },
    pelias: {
      features: [
        {
          geometry: { coordinates: [13.3, 52.5] },
          properties: { layer: type === 'city' ? 'locality' : type, label: Object.values(parts).join(', ') },
        },
      ],
    },
  });
  const fifth = found('street', { name: '5th Avenue', city: 'New York' });
  const june = found('street', { name: 'Straße des 17. Juni', city: 'Berlin', postcode: '10623' });
  const paris = found('city', { name: 'Paris', postcode: '75001' });
  const town = found('city', { name: 'Paris' });
  const cases = [
    ['5th Avenue, New York', fifth, 'exact'],
    ['10 5th Avenue, New York', fifth, 'fallback'],
    ['Straße des 17. Juni, Berlin', june, 'exact'],
    ['Straße des 17. Juni, 10623 Berlin', june, 'exact'],
    ['Straße des 17. Juni 100, Berlin', june, 'fallback'],
    ['75001 Paris', paris, 'exact'],
    ['1 Rue Perdue, 75001 Paris', paris, 'fallback'],
    ['75001', town, 'exact'],
    ['Paris', town, 'exact'],
  ] as const;

  test.each(names.flatMap((name) => cases.map((row) => [name, ...row] as const)))(
    '%s: %s',
    (name, query, answer, confidence) => {
      expect(services[name].read(answer[name], query)).toMatchObject([{ confidence }]);
      expect(services[name].read(name === 'nominatim' ? answer[name][0] : answer[name], null)).toMatchObject([
        { confidence: 'exact' },
      ]);
    },
  );

  test.each(['exact', 'interpolated', 'fallback'] as const)('is judged by Pelias itself: %s', (match_type) => {
    const [feature] = fifth.pelias.features;
    const answer = { features: [{ ...feature, properties: { ...feature!.properties, match_type } }] };
    expect(services.pelias.read(answer, 'Fifth Avenue 10')).toMatchObject([{ confidence: match_type }]);
  });
});

// The layer was a function, because each object has a constructor.
test('a layer that a service calls constructor is a place', () => {
  const feature = { geometry: { coordinates: [13.3, 52.5] } };
  const answerOf = (properties: object) => ({ features: [{ ...feature, properties }] });
  const found = [
    ...services.pelias.read(answerOf({ layer: 'constructor', label: 'X' }), 'X')!,
    ...services.photon.read(answerOf({ type: 'constructor', name: 'X' }), 'X')!,
  ];
  expect(found.map(({ layer }) => layer)).toEqual(['place', 'place']);
});

// The public Photon knows four languages and refuses all others: each search of an SDK with `lang=sv` was answered 503.
describe('regression: a language that the service refuses', () => {
  const refusing = () =>
    startServer(({ url }, response) => {
      const isRefused = url!.includes('lang=sv') || url!.includes('q=bad');
      response.writeHead(isRefused ? 400 : 200).end(isRefused ? '{"message":"refused"}' : '{"features":[]}');
    });

  test('is left out, and not sent again for an hour', async () => {
    const service = await refusing();
    let nowMs = 0;
    const geocoder = open({ url: service.url, cacheHours: 0, clock: () => nowMs });
    expect(addresses(await geocoder.forward(project, 'Lund', { limit: 1, language: 'sv' }))).toEqual([]);
    expect(addresses(await geocoder.reverse(project, [13, 55], { limit: 1, language: 'sv' }))).toEqual([]);
    expect(addresses(await geocoder.autocomplete(project, 'Lu', { limit: 1, language: 'de' }))).toEqual([]);
    nowMs = 3_600_000;
    expect(addresses(await geocoder.forward(project, 'Lund', { limit: 1, language: 'sv' }))).toEqual([]);
    expect(service.requests.map(({ url }) => new URL(url!, 'http://x').searchParams.get('lang'))).toEqual([
      ...['sv', null],
      null,
      'de',
      ...['sv', null],
    ]);
  });

  test('is sent again after a query that is refused without it, too', async () => {
    const service = await refusing();
    const geocoder = open({ url: service.url });
    const refused = { ok: false, error: { code: 'not_available' } };
    expect(await geocoder.forward(project, 'bad', { limit: 1, language: 'fr' })).toMatchObject(refused);
    await geocoder.forward(project, 'Lund', { limit: 1, language: 'fr' });
    expect(service.requests.at(-1)!.url).toContain('lang=fr');
  });
});

test.each([400, 404, 414, 422])('a request that the service refuses with %d is not to be repeated', async (status) => {
  const { url } = await startServer((_, response) => response.writeHead(status).end('{}'));
  const result = await open({ url }).forward(project, 'Paris', { limit: 1 });
  expect(result).toMatchObject({ ok: false, error: { code: 'not_available', message: /geocoding\.url/ } });
});

// 10,000 answers took gigabytes.
test('regression: long answers do not fill the memory', async () => {
  const long = (name: string): [string, string] => [name, name.repeat(100)];
  const properties = Object.fromEntries(['name', 'street', 'city', 'county', 'state', 'country'].map(long));
  const feature = { geometry: { coordinates: [1, 2] }, properties };
  const body = JSON.stringify({ features: Array.from({ length: 100 }, () => feature) });
  const { url } = await startServer((_, response) => response.end(body));
  let entries = () => 0;
  const geocoder = open({
    url,
    observeCache: (_, read) => {
      entries = () => read().entries;
    },
  });
  for (let index = 0; index < 20; index++) await geocoder.forward(project, `Town ${index}`, { limit: 1 });
  expect(entries() * body.length).toBeLessThan(2_000_000);
  expect(entries()).toBeGreaterThan(0);
});

describe('requests', () => {
  const photonOf = (service: LocalService, given: Given = {}, turns = everyTurn) =>
    open({ provider: 'photon', url: service.url, ...given }, turns);

  test('end at the time limit of a service that does not answer', async () => {
    const silent = await startServer(() => undefined);
    const result = await photonOf(silent, { timeoutMs: 50 }).forward(project, 'Paris', { limit: 1 });
    expect(result).toMatchObject({ ok: false, error: { code: 'unavailable', message: /timed_out/ } });
  });

  test('fail when nothing listens, or when the connection breaks', async () => {
    const result = await open({ url: 'http://127.0.0.1:9' }).forward(project, 'Paris', { limit: 1 });
    expect(result).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    const broken = await startServer((request) => request.socket.destroy());
    expect(await photonOf(broken).forward(project, 'Paris', { limit: 1 })).toMatchObject({ ok: false });
  });

  test('are not repeated for a cached answer, and neither for an equal one in flight', async () => {
    const service = await startService('photon');
    const geocoder = photonOf(service);
    const both = await Promise.all([
      geocoder.forward(project, 'Paris', { limit: 1 }),
      geocoder.forward(project, 'Paris', { limit: 1 }),
    ]);
    expect(both[0]).toEqual(both[1]);
    await geocoder.forward(project, 'Paris', { limit: 1 });
    expect(service.requests).toHaveLength(1);
    await geocoder.forward(project, 'Paris', { limit: 1, language: 'fr' });
    expect(service.requests).toHaveLength(2);
  });

  test('are repeated after a failure, and always with a cache of age 0', async () => {
    let isDown = true;
    const service = await startServer((_, response) => {
      response.writeHead(isDown ? 503 : 200).end('{"features":[]}');
    });
    const geocoder = photonOf(service);
    expect((await geocoder.forward(project, 'Paris', { limit: 1 })).ok).toBe(false);
    isDown = false;
    expect((await geocoder.forward(project, 'Paris', { limit: 1 })).ok).toBe(true);
    const uncached = photonOf(service, { cacheHours: 0 });
    for (let call = 0; call < 3; call++) await uncached.forward(project, 'Paris', { limit: 1 });
    expect(service.requests).toHaveLength(5);
  });

  test('wait for their turn, and give up when it does not come', async () => {
    const service = await startService('photon');
    const asked: number[] = [];
    const turns: Turns = {
      put: async (_, __, ttlMs) => {
        asked.push(ttlMs);
        return asked.length % 3 === 0;
      },
    };
    const geocoder = photonOf(service, { maxRequestsPerSecond: 200 }, turns);
    expect((await geocoder.forward(project, 'Paris', { limit: 1 })).ok).toBe(true);
    expect(asked).toEqual([5, 5, 5]);

    const never = photonOf(service, { maxRequestsPerSecond: 200, maxWaitMs: 0 }, { put: async () => false });
    expect(await never.forward(project, 'Rome', { limit: 1 })).toMatchObject({
      ok: false,
      error: { code: 'overloaded', message: /geocoding\.maxRequestsPerSecond/ },
    });
    expect(service.requests).toHaveLength(1);
  });

  test('carry the key of the service', async () => {
    const service = await startService('pelias');
    await open({ provider: 'pelias', url: service.url, apiKey: 'a key' }).autocomplete(project, 'Par', {
      limit: 1,
      near: [2, 48],
    });
    expect(service.requests[0]!.url).toBe(
      '/v1/autocomplete?text=Par&size=1&focus.point.lat=48&focus.point.lon=2&api_key=a+key',
    );
  });
});

describe('the gazetteer', () => {
  const first = async (query: string) =>
    addresses(await gazetteer.forward(project, query, { limit: 1 }))[0]?.formattedAddress;

  test.each([
    ['Paris', 'Paris, France'],
    ['paris, tx', 'Paris, TX, United States'],
    ['Paris TX', 'Paris, TX, United States'],
    ['Springfield, IL, USA', 'Springfield, IL, United States'],
    ['Springfield, Illinois, United States of America', 'Springfield, IL, United States'],
    ['New York, NY', 'New York City, NY, United States'],
    ['München', 'Munich, BY, Germany'],
    ['ZURICH', 'Zürich, Switzerland'],
    ['saint etienne', 'Saint-Étienne, France'],
    ['London, Ontario', 'London, ON, Canada'],
    ['Perth, WA', 'Perth, WA, Australia'],
  ])('%s is %s', async (query, expected) => expect(await first(query)).toBe(expected));

  test.each([
    '10 Downing Street, London',
    'Main Street, Springfield, IL',
    '841 Broadway, New York, NY 10003',
    'Paris, TX 75460',
    'Paris, Atlantis',
    'Paris, Japan',
    'Eiffel Tower, Paris',
    'Paris 7',
    'Paris, Paris Street, France',
    ', France',
    '',
    ',,,',
  ])('refuses to guess at %j', async (query) => expect(await first(query)).toBeUndefined());

  test('completes the name and the region, most populous first', async () => {
    const complete = async (query: string) =>
      addresses(await gazetteer.autocomplete(project, query, { limit: 3 })).map(
        ({ formattedAddress }) => formattedAddress,
      );
    expect((await complete('Lond'))[0]).toBe('London, ENG, United Kingdom');
    expect((await complete('springf, '))[0]).toMatch(/^Springf/);
    expect((await complete('Paris, Tex'))[0]).toBe('Paris, TX, United States');
    expect(await complete('Paris, Zzz')).toEqual([]);
  });

  // In Florence, "Flor" completed to Florianópolis first, 10,000 km away.
  test('regression: completes to places within 100 km first', async () => {
    const near = async (query: string, position: Position) =>
      addresses(await gazetteer.autocomplete(project, query, { limit: 2, near: position })).map(
        ({ formattedAddress }) => formattedAddress,
      );
    expect(await near('Flor', [11.25, 43.77])).toEqual(['Florence, Italy', 'Florianópolis, Brazil']);
    expect(await near('Flor', [-48.5, -27.6])).toEqual(['Florianópolis, Brazil', 'Florence, Italy']);
    expect((await near('Fl', [11.25, 43.77]))[0]).toBe('Florence, Italy');
    expect((await near('Fl', [0, 0]))[0]).not.toBe('Florence, Italy');
    expect((await near('Par', [2.3, 48.9]))[0]).toBe('Paris, France');
  });
});

test('geocoding can be switched off', () =>
  expect(createGeocoder({ ...settings, provider: 'none' }, everyTurn)).toBeUndefined());
