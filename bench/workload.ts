/**
 * Seeded workloads: fences in a metropolitan box and devices that wander through it, as in the measurements of Tile38.
 *
 * The default box is 70 km by 78 km. Devices take Gaussian steps of about 50 m and turn back at its edges.
 */
import { pairId } from '../schemas/ids.js';
import type { BeaconRecord } from '../schemas/json/beacon.js';
import type { Position } from '../schemas/json/common.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import { createRandom } from '../schemas/random.js';
import type { Fence } from './workloads/workload.js';

/** Degrees. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The default box, in degrees. */
export const box: Box = { west: -122.6, south: 37.2, east: -121.8, north: 37.9 };
/** Ten times the area of {@link box}, at the same latitude. */
export const tenfoldBox: Box = { west: -126.2, south: 37.2, east: -118.2, north: 37.9 };
const metresPerDegreeLatitude = 110_990;
const metresPerDegreeLongitude = 88_300;

/** Returns a standard normal number by the Box-Muller transform. */
const gaussian = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** How many fences of which kinds. */
export interface FenceMix {
  readonly count: number;
  /** Radius of circles. Polygons have about the same extent. */
  readonly radiusM: number;
  /** Share of polygons, 0 to 1. */
  readonly polygons: number;
  /** Returns the number of vertices of a polygon. */
  readonly vertices: (random: () => number) => number;
  readonly seed: number;
  /** The area of the fences. Default: {@link box}. */
  readonly area?: Box;
}

/**
 * Returns a realistic number of vertices: most polygons are small, and one in a thousand has 2,000 vertices.
 */
export const realisticVertices = (random: () => number): number =>
  random() < 0.001 ? 2_000 : Math.floor(4 + 196 * random() ** 3);

/** Returns a closed star-shaped ring around a centre, which never crosses itself. */
function starRing(
  random: () => number,
  [longitude, latitude]: Position,
  radiusM: number,
  vertices: number,
): Position[] {
  const ring = Array.from({ length: vertices }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / vertices;
    const reachM = radiusM * (0.7 + 0.3 * random());
    return [
      longitude + (reachM * Math.cos(angle)) / metresPerDegreeLongitude,
      latitude + (reachM * Math.sin(angle)) / metresPerDegreeLatitude,
    ];
  });
  return [...ring, ring[0] as Position];
}

/** Returns the id of the bench's geofence with this number. */
export const geofenceId = (project: string, number: number): string =>
  pairId('geofence', project, 'test', 'bench', String(number));

/** Returns the record of a fence, with the tag `bench` and its number as external id. */
export function recordOf({ number, center, radiusM, ring }: Fence, project: string): GeofenceRecord {
  return {
    _id: geofenceId(project, number),
    project,
    environment: 'test',
    createdAt: number + 1,
    updatedAt: number + 1,
    tag: 'bench',
    externalId: String(number),
    description: `Fence ${number}`,
    type: ring ? 'polygon' : 'circle',
    center,
    radius: radiusM,
    ring: ring && [...ring],
    mode: null,
    enabled: true,
    metadata: null,
    operatingHours: null,
    timeZone: 'America/Los_Angeles',
    stopDetection: null,
    dwellThreshold_min: null,
    disableAfter: null,
    deleteAfter: null,
    userIds: null,
    ip: null,
  };
}

/** Yields geofence records of one project, in the area of the mix. */
export function* fences(mix: FenceMix, project: string): Generator<GeofenceRecord> {
  const random = createRandom(mix.seed).next;
  const { west, south, east, north } = mix.area ?? box;
  for (let number = 0; number < mix.count; number++) {
    const center: Position = [west + (east - west) * random(), south + (north - south) * random()];
    const ring = random() < mix.polygons ? starRing(random, center, mix.radiusM, mix.vertices(random)) : null;
    yield recordOf({ number, center, radiusM: mix.radiusM, ring }, project);
  }
}

/** Yields beacon records of one project, in {@link box}. */
export function* beacons(count: number, project: string, seed: number): Generator<BeaconRecord> {
  const random = createRandom(seed).next;
  for (let index = 0; index < count; index++) {
    yield {
      _id: pairId('beacon', project, 'test', 'bench', String(index)),
      project,
      environment: 'test',
      createdAt: index + 1,
      updatedAt: index + 1,
      tag: 'bench',
      externalId: String(index),
      description: `Beacon ${index}`,
      type: 'ibeacon',
      group: 'b9407f30f5f8466eaff925556b57fe6d',
      major: String(Math.floor(index / 60_000)),
      minor: String(index % 60_000),
      coordinates: [box.west + (box.east - box.west) * random(), box.south + (box.north - box.south) * random()],
      enabled: true,
      metadata: null,
    };
  }
}

/** A reported position of a device. */
export interface Fix {
  readonly device: number;
  readonly longitude: number;
  readonly latitude: number;
}

/** Fixes of `devices` wandering devices, round robin, without end. */
export function* wander(devices: number, seed: number, area: Box = box): Generator<Fix> {
  const random = createRandom(seed).next;
  const longitudes = Float64Array.from({ length: devices }, () => area.west + (area.east - area.west) * random());
  const latitudes = Float64Array.from({ length: devices }, () => area.south + (area.north - area.south) * random());
  for (let device = 0; ; device = (device + 1) % devices) {
    const longitude = reflect(
      (longitudes[device] as number) + (50 * gaussian(random)) / metresPerDegreeLongitude,
      area.west,
      area.east,
    );
    const latitude = reflect(
      (latitudes[device] as number) + (50 * gaussian(random)) / metresPerDegreeLatitude,
      area.south,
      area.north,
    );
    longitudes[device] = longitude;
    latitudes[device] = latitude;
    yield { device, longitude, latitude };
  }
}

const reflect = (value: number, low: number, high: number): number => {
  if (value < low) return 2 * low - value;
  return value > high ? 2 * high - value : value;
};
