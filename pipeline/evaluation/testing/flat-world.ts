/**
 * A flat world for tests: longitude and latitude are in metres, fences are circles, and every query examines all of
 * them.
 */
import { defaultSettings, type Settings } from '../../../schemas/json/project.js';
import type { Location, RangedBeacon } from '../../../schemas/records.js';
import { exampleLocation } from '../../../schemas/testing/examples.js';
import { beaconKey } from '../beacons.js';
import {
  type Beacons,
  defaultBounds,
  type EvaluationBounds,
  type EvaluationContext,
  type FenceRules,
  type Fences,
  Zone,
} from '../types.js';

/** A circle with its centre in metres. */
export interface FlatFence {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radiusM: number;
  readonly rules: FenceRules;
  readonly generation: number;
}

interface FlatBeacon {
  readonly id: string;
  readonly enabled: boolean;
  readonly generation: number;
  readonly identifiers: RangedBeacon;
}

/** The evaluation context as plain lists. */
export interface FlatWorld {
  readonly fences: readonly FlatFence[];
  readonly beacons: readonly FlatBeacon[];
  readonly settings: Settings;
  readonly bounds: EvaluationBounds;
}

const openRules: FenceRules = {
  enabled: true,
  disableAfterMs: Number.POSITIVE_INFINITY,
  deleteAfterMs: Number.POSITIVE_INFINITY,
  stopDetection: null,
  dwellThreshold_min: null,
  hours: null,
  userIds: null,
  addresses: null,
};

/** Returns the distance to the boundary in metres, positive inside. */
export const signedDistance = (fence: FlatFence, x: number, y: number): number =>
  fence.radiusM - Math.sqrt((x - fence.x) ** 2 + (y - fence.y) ** 2);

/** Returns the share of the disc inside the fence, by the area of the lens of two circles. */
export function overlapShare(fence: FlatFence, x: number, y: number, accuracyM: number): number {
  const between = Math.sqrt((x - fence.x) ** 2 + (y - fence.y) ** 2);
  const [r, a] = [fence.radiusM, accuracyM];
  if (between >= r + a) return 0;
  if (between <= Math.abs(r - a)) return Math.min(1, (r / a) ** 2);
  const angle = (own: number, other: number) => Math.acos((between ** 2 + own ** 2 - other ** 2) / (2 * between * own));
  const segment = (own: number, half: number) => own ** 2 * (half - Math.sin(half) * Math.cos(half));
  return (segment(a, angle(a, r)) + segment(r, angle(r, a))) / (Math.PI * a ** 2);
}

function zoneOf(distance: number, accuracyM: number): Zone {
  if (distance < -accuracyM) return Zone.apart;
  if (distance < 0) return Zone.near;
  return distance < accuracyM ? Zone.partly : Zone.within;
}

const boxHolds = (fence: FlatFence, x: number, y: number, accuracyM: number): boolean =>
  Math.abs(x - fence.x) <= fence.radiusM + accuracyM && Math.abs(y - fence.y) <= fence.radiusM + accuracyM;

function flatFences(list: readonly FlatFence[]): Fences {
  const found = new Int32Array(list.length);
  let candidateCount = 0;
  return {
    candidates(x, y, accuracyM) {
      candidateCount = 0;
      list.forEach((fence, row) => {
        if (boxHolds(fence, x, y, accuracyM)) found[candidateCount++] = row;
      });
      return found;
    },
    get candidateCount() {
      return candidateCount;
    },
    rowOf: (id) => list.findIndex((fence) => fence.id === id),
    idOf: (row) => list[row]!.id,
    isRowOf: (row, id) => list[row]?.id === id,
    generation: (row) => list[row]!.generation,
    signedDistance: (row, x, y) => signedDistance(list[row]!, x, y),
    rules: (row) => list[row]!.rules,
    zone: (row, x, y, accuracyM) => zoneOf(signedDistance(list[row]!, x, y), accuracyM),
    holdsHalf: (row, x, y, accuracyM) => overlapShare(list[row]!, x, y, accuracyM) >= 0.5,
    share(row, x, y, accuracyM) {
      const zone = zoneOf(signedDistance(list[row]!, x, y), accuracyM);
      if (zone !== Zone.near && zone !== Zone.partly) throw new Error(`share must not be called in zone ${zone}`);
      return overlapShare(list[row]!, x, y, accuracyM);
    },
  };
}

const flatBeacons = (list: readonly FlatBeacon[]): Beacons => ({
  matching: (ranged) => list.filter((beacon) => beaconKey(beacon.identifiers) === beaconKey(ranged)),
  byId: (id) => list.find((beacon) => beacon.id === id),
});

/** Returns the context of a world, as evaluation takes it. */
export const contextOf = (world: FlatWorld): EvaluationContext => ({
  fences: flatFences(world.fences),
  beacons: flatBeacons(world.beacons),
  settings: world.settings,
  bounds: world.bounds,
});

/** Returns a circle about a point of the plane, in metres. */
export const flatFence = (
  id: string,
  x: number,
  y: number,
  radiusM: number,
  rules: Partial<FenceRules> = {},
  generation = 1,
): FlatFence => ({ id, x, y, radiusM, rules: { ...openRules, ...rules }, generation });

/** Returns an iBeacon, identified by its minor. */
export const flatBeacon = (id: string, minor: number, enabled = true, generation = 1): FlatBeacon => ({
  id,
  enabled,
  generation,
  identifiers: {
    type: 'ibeacon',
    group: '00000000-0000-4000-8000-000000000000',
    major: '1',
    minor: String(minor),
    rssi_dbm: null,
  },
});

/** Returns a world with default settings and bounds, changed as told. */
export const flatWorld = (
  fences: readonly FlatFence[],
  settings: Partial<Settings> = {},
  beacons: readonly FlatBeacon[] = [],
  bounds: Partial<EvaluationBounds> = {},
): FlatWorld => ({
  fences,
  beacons,
  settings: { ...defaultSettings, ...settings },
  bounds: { ...defaultBounds, ...bounds },
});

/** Converts minutes to milliseconds. */
export const minutes = (count: number): number => count * 60_000;

/** 2025-06-02, a Monday, 12:00 UTC. */
export const noonMs = Date.UTC(2025, 5, 2, 12);

let made = 0;

/** Returns a location of one device at (x, y), `atMin` minutes after noon by device time. */
export const locationAt = (atMin: number, x: number, y: number, fields: Partial<Location> = {}): Location =>
  exampleLocation({
    id: `location-${made++}`,
    latitude: y,
    longitude: x,
    occurredAt: noonMs + minutes(atMin),
    receivedAt: noonMs + minutes(atMin) + 250,
    foreground: false,
    ...fields,
  });
