/**
 * The demo's city: geofences and beacons that are loaded before the fleet starts. Pure: the same seed gives the same
 * city.
 *
 * In: the places of `landmarks.ts`. Out: a few hundred geofences and beacons as request bodies, and destinations of
 * trips.
 */
import type { Position } from '../schemas/json/common.js';
import { createRandom, type Random } from '../schemas/random.js';
import {
  type Area,
  airports,
  type Corridor,
  campuses,
  chains,
  corridors,
  districts,
  eddystoneUid,
  hospitals,
  ibeaconUuid,
  type Landmark,
  museums,
  offices,
  parks,
  stadiums,
  stations,
} from './landmarks.js';
import { along, distanceM, type PlanePoint, toPlane, toPosition } from './plane.js';

/** A geofence or beacon as a PUT request: tag and external id for the path, and the body. */
export interface CityResource {
  readonly tag: string;
  readonly externalId: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A beacon with the data that the fleet needs to range it. */
export interface CityBeacon extends CityResource {
  readonly at: PlanePoint;
  /** The identifiers as an SDK reports them. */
  readonly ranged: Readonly<Record<string, string>>;
}

/** Where trips begin and end. */
export interface Destinations {
  readonly homes: readonly PlanePoint[];
  readonly stores: readonly PlanePoint[];
  readonly workplaces: readonly PlanePoint[];
  readonly sights: readonly PlanePoint[];
  readonly airport: PlanePoint;
}

/** A simulated city. The same seed makes the same city. */
export interface City {
  readonly geofences: readonly CityResource[];
  readonly beacons: readonly CityBeacon[];
  readonly destinations: Destinations;
}

interface Store {
  readonly name: string;
  readonly at: PlanePoint;
  readonly resource: CityResource;
}

const homeCount = 600;
/** One in this many stores has a beacon at its door. */
const storesPerBeacon = 3;

/** Builds the city, always the same one. */
export function buildCity(): City {
  const random = createRandom(1);
  const stores = corridors.flatMap((corridor) => storesAlong(corridor, random));
  return {
    geofences: [
      ...stores.map((store) => store.resource),
      ...landmarkFences('station', stations, { dwellThreshold: 2 }),
      ...landmarkFences('stadium', stadiums, {}),
      ...landmarkFences('museum', museums, { operatingHours: everyDay('10:00', '17:00') }),
      ...landmarkFences('hospital', hospitals, {}),
      ...landmarkFences('campus', campuses, {}),
      ...landmarkFences('office', offices, { dwellThreshold: 5 }),
      ...areaFences('park', parks),
      ...areaFences('airport', airports),
      ...areaFences('district', districts),
      ...corridors.map((corridor) => deliveryZone(corridor, random)),
    ],
    beacons: [...storeBeacons(stores), ...stationBeacons(), ...museumBeacons()],
    destinations: {
      homes: Array.from({ length: homeCount }, () => pointWithin(random.pick(districts), random)),
      stores: stores.map((store) => store.at),
      workplaces: [...offices, ...hospitals, ...campuses, ...stations].map(({ center }) => toPlane(center)),
      sights: [...museums, ...stadiums].map(({ center }) => toPlane(center)),
      airport: centroid(airports[0]?.ring ?? []),
    },
  };
}

/**
 * Places stores on both sides of the street, about evenly spaced, each with a door some metres from the middle of the
 * road.
 */
function storesAlong(corridor: Corridor, random: Random): Store[] {
  const [from, to] = [toPlane(corridor.from), toPlane(corridor.to)];
  const length = distanceM(from, to);
  const across = { x: -(to.y - from.y) / length, y: (to.x - from.x) / length };
  return Array.from({ length: corridor.stores }, (_, index) => {
    const onStreet = along(from, to, (index + random.between(0.25, 0.75)) / corridor.stores);
    const offsetM = (index % 2 === 0 ? 1 : -1) * random.between(10, 18);
    const at = { x: onStreet.x + across.x * offsetM, y: onStreet.y + across.y * offsetM };
    const chain = random.pick(chains);
    const name = `${chain.name}, ${corridor.name}`;
    const resource: CityResource = {
      tag: 'store',
      externalId: `${slug(corridor.name)}-${index + 1}`,
      fields: {
        description: name,
        type: 'circle',
        coordinates: toPosition(at),
        radius: random.integer(35, 70),
        operatingHours: everyDay(chain.opens, chain.closes),
        dwellThreshold: 0.5,
        metadata: {
          chain: chain.name,
          sells: chain.sells,
          number: random.integer(100, 999),
          curbside: random.chance(0.4),
        },
      },
    };
    return { name, at, resource };
  });
}

const landmarkFences = (tag: string, landmarks: readonly Landmark[], extra: Record<string, unknown>): CityResource[] =>
  landmarks.map(({ name, center, radiusM }) => ({
    tag,
    externalId: slug(name),
    fields: { description: name, type: 'circle', coordinates: center, radius: radiusM, ...extra },
  }));

const areaFences = (tag: string, areas: readonly Area[]): CityResource[] =>
  areas.map(({ name, ring }) => ({
    tag,
    externalId: slug(name),
    fields: { description: name, type: 'polygon', coordinates: closed(ring), metadata: { kind: tag } },
  }));

/**
 * Returns the delivery zone of a street: an irregular polygon of twelve corners with the opening hours of the kitchen.
 */
function deliveryZone(corridor: Corridor, random: Random): CityResource {
  const [from, to] = [toPlane(corridor.from), toPlane(corridor.to)];
  const middle = along(from, to, 0.5);
  const reachM = distanceM(from, to) / 2 + 450;
  const corners = 12;
  const ring = Array.from({ length: corners }, (_, index) => {
    const angle = (2 * Math.PI * index) / corners;
    const radius = reachM * random.between(0.75, 1.1);
    return toPosition({ x: middle.x + radius * Math.cos(angle), y: middle.y + radius * Math.sin(angle) });
  });
  return {
    tag: 'delivery-zone',
    externalId: slug(corridor.name),
    fields: {
      description: `Delivery zone ${corridor.name}`,
      type: 'polygon',
      coordinates: closed(ring),
      operatingHours: { ...everyDay('11:00', '22:30'), Fri: [['11:00', '01:00']], Sat: [['10:00', '01:00']] },
    },
  };
}

const storeBeacons = (stores: readonly Store[]): CityBeacon[] =>
  stores
    .filter((_, index) => index % storesPerBeacon === 0)
    .map(({ name, at, resource }, index) =>
      ibeacon('store-door', resource.externalId, `Door of ${name}`, at, 1, index + 1),
    );

const stationBeacons = (): CityBeacon[] =>
  stations.flatMap(({ name, center }, index) => {
    const middle = toPlane(center);
    return [
      ibeacon(
        'platform',
        `${slug(name)}-a`,
        `${name}, platform A`,
        { x: middle.x - 20, y: middle.y },
        2,
        2 * index + 1,
      ),
      ibeacon(
        'platform',
        `${slug(name)}-b`,
        `${name}, platform B`,
        { x: middle.x + 20, y: middle.y },
        2,
        2 * index + 2,
      ),
    ];
  });

function museumBeacons(): CityBeacon[] {
  return museums.map(({ name, center }, index) => {
    const ranged = { type: 'eddystone', uid: eddystoneUid, instance: (index + 1).toString(16).padStart(12, '0') };
    const fields = { description: `${name}, entrance`, coordinates: center, enabled: true, ...ranged };
    return { tag: 'museum', externalId: slug(name), fields, at: toPlane(center), ranged };
  });
}

function ibeacon(
  tag: string,
  externalId: string,
  description: string,
  at: PlanePoint,
  major: number,
  minor: number,
): CityBeacon {
  const ranged = { type: 'ibeacon', uuid: ibeaconUuid, major: String(major), minor: String(minor) };
  const fields = { description, coordinates: toPosition(at), enabled: true, ...ranged };
  return { tag, externalId, fields, at, ranged };
}

/** Returns a random point in an almost convex area, in the triangle of its centroid and a random edge. */
function pointWithin(area: Area, random: Random): PlanePoint {
  const ring = area.ring.map(toPlane);
  const index = random.integer(0, ring.length - 1);
  const [a, b] = [ring[index] as PlanePoint, ring[(index + 1) % ring.length] as PlanePoint];
  const onEdge = along(a, b, random.next());
  return along(centroid(area.ring), onEdge, Math.sqrt(random.next()));
}

function centroid(ring: readonly Position[]): PlanePoint {
  const points = ring.map(toPlane);
  const sum = points.reduce((total, point) => ({ x: total.x + point.x, y: total.y + point.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

const closed = (ring: readonly Position[]): Position[] => [...ring, ring[0] as Position];

const everyDay = (opens: string, closes: string) =>
  Object.fromEntries(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((day) => [day, [[opens, closes]]]));

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[’']/g, '')
    .replace(/[^a-z0-9]+/g, '-');
