/**
 * A deterministic workload: geofences, beacons, and each device's locations in order. Pure.
 *
 * Every location carries the device's time, so its effect depends only on the workload, and a repetition has none.
 */
import { createRandom, type Random } from '../../schemas/random.js';
import { at } from '../support/places.js';

export interface Resource {
  readonly kind: 'geofences' | 'beacons';
  readonly externalId: string;
  readonly fields: object;
}

/** The fields of a track request that the tests read. */
export interface Report {
  readonly deviceId: string;
  readonly userId?: string;
  /** Epoch ms of the fix. */
  readonly updatedAtMs: number;
  readonly [field: string]: unknown;
}

export interface Workload {
  readonly settings: object;
  readonly resources: readonly Resource[];
  /** By device, each in order of time. The last location of each lies in the fence `home`, and in no other. */
  readonly devices: readonly (readonly Report[])[];
}

export interface WorkloadSize {
  readonly devices: number;
  readonly locationsPerDevice: number;
}

const areaM = 2_500;
const homeM = { east: 10_000, north: 10_000 };
const stepMs = 30_000;
const stepM = 90;
const beaconRangeM = 40;
const uuid = 'b9407f30-f5f8-466e-aff9-25556b57fe6d';

interface Beacon {
  readonly eastM: number;
  readonly northM: number;
  readonly ranged: { readonly type: 'ibeacon'; readonly uuid: string; readonly major: string; readonly minor: string };
}

/** Builds the workload of a seed. `endMs` is the time of the last location of every device, epoch ms. */
export function buildWorkload(seed: number, { devices, locationsPerDevice }: WorkloadSize, endMs: number): Workload {
  const random = createRandom(seed);
  const beacons = Array.from({ length: 24 }, (_, index) => beaconAt(index, random));
  return {
    settings: { dwellEvents: true, defaultDwellThreshold: 2, bufferExits: true },
    resources: [
      ...Array.from({ length: 40 }, (_, index) => roundFence(index, random)),
      ...Array.from({ length: 20 }, (_, index) => cornerFence(index, random)),
      fence('home', { type: 'circle', coordinates: at(homeM.east, homeM.north), radius: 500 }),
      ...beacons.map(({ eastM, northM, ranged }, index): Resource => {
        const fields = { description: `beacon ${index}`, enabled: true, coordinates: at(eastM, northM), ...ranged };
        return { kind: 'beacons', externalId: `beacon-${index}`, fields };
      }),
    ],
    devices: Array.from({ length: devices }, (_, index) => {
      const startMs = endMs - (locationsPerDevice - 1) * stepMs;
      return walk(index, locationsPerDevice, startMs, beacons, createRandom(random.integer(0, 2 ** 31)));
    }),
  };
}

const fence = (externalId: string, fields: object): Resource => ({
  kind: 'geofences',
  externalId,
  fields: { description: externalId, ...fields },
});

const somewhere = (random: Random) => ({ eastM: random.between(0, areaM), northM: random.between(0, areaM) });

function roundFence(index: number, random: Random): Resource {
  const { eastM, northM } = somewhere(random);
  return fence(`circle-${index}`, {
    type: 'circle',
    coordinates: at(eastM, northM),
    radius: random.integer(60, 250),
    ...(index % 4 === 0 && { stopDetection: true }),
    ...(index % 5 === 0 && { dwellThreshold: 1 }),
  });
}

/** A star-shaped polygon of a few corners, at uneven distances from its middle. */
function cornerFence(index: number, random: Random): Resource {
  const { eastM, northM } = somewhere(random);
  const corners = random.integer(3, 24);
  const ring = Array.from({ length: corners }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / corners;
    const radiusM = random.between(80, 320);
    return at(eastM + radiusM * Math.cos(angle), northM + radiusM * Math.sin(angle));
  });
  return fence(`polygon-${index}`, { type: 'polygon', coordinates: [...ring, ring[0]] });
}

const beaconAt = (index: number, random: Random): Beacon => ({
  ...somewhere(random),
  ranged: { type: 'ibeacon', uuid, major: '1', minor: String(index + 1) },
});

/**
 * Returns a random walk within the area that ends at home. A third of the devices name a user from the start, a third
 * midway.
 */
function walk(index: number, locations: number, startMs: number, beacons: readonly Beacon[], random: Random): Report[] {
  const namedFrom = [0, Math.floor(locations / 2), locations][index % 3] ?? 0;
  const ranges = index % 4 === 0;
  let { eastM, northM } = somewhere(random);
  let heading = random.between(0, 2 * Math.PI);
  return Array.from({ length: locations }, (_, step): Report => {
    const stopped = random.chance(0.3);
    if (!stopped) {
      heading += random.normal() * 0.5;
      eastM = bounced(eastM + stepM * Math.cos(heading));
      northM = bounced(northM + stepM * Math.sin(heading));
    }
    const isLast = step === locations - 1;
    const [longitude, latitude] = isLast ? at(homeM.east, homeM.north) : at(eastM, northM);
    return {
      deviceId: `device-${index}`,
      ...(step >= namedFrom && { userId: `user-${index}` }),
      longitude,
      latitude,
      accuracy: random.integer(3, 60),
      foreground: random.chance(0.2),
      stopped,
      ...(ranges && { beacons: isLast ? [] : inRange(beacons, eastM, northM) }),
      updatedAtMs: startMs + step * stepMs,
    };
  });
}

/** Reflects a position beyond the edge back into the area. */
const bounced = (distanceM: number): number =>
  distanceM < 0 ? -distanceM : distanceM > areaM ? 2 * areaM - distanceM : distanceM;

const inRange = (beacons: readonly Beacon[], eastM: number, northM: number) =>
  beacons
    .filter((beacon) => Math.hypot(beacon.eastM - eastM, beacon.northM - northM) < beaconRangeM)
    .map(({ ranged }) => ranged);
