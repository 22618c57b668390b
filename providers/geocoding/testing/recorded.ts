/**
 * A local server that answers as Nominatim, Photon or Pelias: recorded answers, cut down to what is read and a little
 * more, for one street address, one town and one shop. Every other query gets the service's answer for nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A service with recorded answers. */
export type ServiceName = 'nominatim' | 'photon' | 'pelias';

const nominatimHouse = {
  place_id: 331_774_412,
  licence: 'Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright',
  osm_type: 'way',
  osm_id: 1_234,
  lat: '40.7316',
  lon: '-73.9910',
  category: 'building',
  type: 'yes',
  place_rank: 30,
  importance: 0.00008,
  addresstype: 'building',
  name: '',
  display_name: '841, Broadway, Greenwich Village, Manhattan, New York, 10003, United States',
  address: {
    house_number: '841',
    road: 'Broadway',
    neighbourhood: 'Greenwich Village',
    city: 'New York',
    county: 'New York County',
    state: 'New York',
    'ISO3166-2-lvl4': 'US-NY',
    postcode: '10003',
    country: 'United States',
    country_code: 'us',
  },
  boundingbox: ['40.731', '40.732', '-73.992', '-73.990'],
};
const nominatimTown = {
  lat: '33.6617962',
  lon: '-95.5555130',
  category: 'boundary',
  type: 'administrative',
  place_rank: 16,
  addresstype: 'city',
  name: 'Paris',
  display_name: 'Paris, Lamar County, Texas, United States',
  address: {
    city: 'Paris',
    county: 'Lamar County',
    state: 'Texas',
    'ISO3166-2-lvl4': 'US-TX',
    country: 'United States',
    country_code: 'us',
  },
};

const photonHouse = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-73.991, 40.7316] },
  properties: {
    osm_type: 'N',
    osm_key: 'place',
    osm_value: 'house',
    type: 'house',
    housenumber: '841',
    street: 'Broadway',
    district: 'Greenwich Village',
    city: 'New York',
    county: 'New York County',
    state: 'New York',
    postcode: '10003',
    country: 'United States',
    countrycode: 'US',
  },
};
const photonTown = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-95.555513, 33.6617962] },
  properties: {
    osm_key: 'place',
    osm_value: 'city',
    type: 'city',
    name: 'Paris',
    county: 'Lamar County',
    state: 'Texas',
    country: 'United States',
    countrycode: 'US',
    extent: [-95.63, 33.74, -95.44, 33.61],
  },
};

const peliasHouse = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-73.991, 40.7316] },
  properties: {
    gid: 'openaddresses:address:us/ny/city_of_new_york:1',
    layer: 'address',
    source: 'openaddresses',
    country_code: 'US',
    name: '841 Broadway',
    housenumber: '841',
    street: 'Broadway',
    postalcode: '10003',
    confidence: 1,
    match_type: 'exact',
    accuracy: 'point',
    country: 'United States',
    region: 'New York',
    region_a: 'NY',
    county: 'New York County',
    locality: 'New York',
    borough: 'Manhattan',
    neighbourhood: 'Greenwich Village',
    label: '841 Broadway, Manhattan, New York, NY, USA',
  },
};
const peliasTown = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-95.555513, 33.6617962] },
  properties: {
    gid: 'whosonfirst:locality:101725293',
    layer: 'locality',
    country_code: 'US',
    name: 'Paris',
    confidence: 1,
    match_type: 'exact',
    country: 'United States',
    region: 'Texas',
    region_a: 'TX',
    county: 'Lamar County',
    locality: 'Paris',
    label: 'Paris, TX, USA',
  },
};

/** Pelias tells what it did not find: here the house of a query with a number. */
const peliasTownFor = (query: string) =>
  /\d/.test(query) ? { ...peliasTown, properties: { ...peliasTown.properties, match_type: 'fallback' } } : peliasTown;

const collection = (features: object[]) => ({ type: 'FeatureCollection', features });
const isTown = (query: string): boolean => /^par/i.test(query);
const isHouse = (query: string): boolean => /broadway/i.test(query);

function known(query: string, house: object, town: object): object[] {
  if (isHouse(query)) return [house];
  return isTown(query) ? [town] : [];
}

/** Near the recorded house or town, by the latitude; the ocean has no address. */
function nearby(latitude: number, house: object, town: object): object[] {
  if (Math.abs(latitude - 40.73) < 1) return [house];
  return Math.abs(latitude - 33.66) < 1 ? [town] : [];
}

const answers: Readonly<Record<ServiceName, (url: URL) => unknown>> = {
  nominatim({ pathname, searchParams: asked }) {
    if (pathname === '/search') return known(asked.get('q')!, nominatimHouse, nominatimTown);
    if (pathname !== '/reverse') return undefined;
    const [found] = nearby(Number(asked.get('lat')), nominatimHouse, nominatimTown);
    return found ?? { error: 'Unable to geocode' };
  },
  photon({ pathname, searchParams: asked }) {
    if (pathname === '/api') return collection(known(asked.get('q')!, photonHouse, photonTown));
    if (pathname !== '/reverse') return undefined;
    return collection(nearby(Number(asked.get('lat')), photonHouse, photonTown));
  },
  pelias({ pathname, searchParams: asked }) {
    const found =
      pathname === '/v1/reverse'
        ? nearby(Number(asked.get('point.lat')), peliasHouse, peliasTown)
        : known(asked.get('text')!, peliasHouse, peliasTownFor(asked.get('text')!));
    if (!['/v1/search', '/v1/autocomplete', '/v1/reverse'].includes(pathname)) return undefined;
    return { geocoding: { version: '0.2' }, ...collection(found) };
  },
};

/** A running service, with the requests that it has received. */
export interface LocalService {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server on loopback that is closed when the test ends. */
export async function startServer(handler: Handler): Promise<LocalService> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Starts a service on loopback that answers what was recorded, and 404 to all else. */
export const startService = (name: ServiceName): Promise<LocalService> =>
  startServer((request, response) => {
    const answer = answers[name](new URL(request.url!, 'http://service'));
    response.statusCode = answer === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer ?? { error: 'no such path' }));
  });
