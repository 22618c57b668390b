/**
 * A fleet of any size: its devices drive from place to place, stop there, lose their connection, and report with the
 * error of a receiver. Pure: the fixes depend only on the options.
 */
import type { Position } from '../../schemas/json/common.js';
import { createRandom, type Random } from '../../schemas/random.js';
import { offset, type Place, placePicker } from './workload.js';

interface FleetOptions {
  readonly devices: number;
  /** The number of fixes. */
  readonly count: number;
  readonly places: readonly Place[];
  readonly speedsMps: readonly [number, number];
  readonly seed: number;
}

/** Fixes in the order in which they arrive. The first ones are one of each device. */
export interface Fixes {
  readonly count: number;
  readonly deviceCount: number;
  readonly devices: Int32Array;
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
  readonly accuraciesM: Float32Array;
  /** Milliseconds since 1970 by the device's clock. */
  readonly timesMs: Float64Array;
  /** 1 if the device has sent a newer fix before. */
  readonly late: Uint8Array;
}

/** Each device reports this often while it has a connection. */
const reportIntervalMs = 10_000;
const startMs = Date.UTC(2026, 0, 1);
const intervalS = reportIntervalMs / 1_000;
/** A device stops for so many intervals when it arrives. */
const stop = { from: 3, to: 30 };
/** The connection is lost once in 500 fixes, for so many intervals. */
const outage = { chance: 1 / 500, from: 3, to: 15 };
/**
 * Of the devices that come back, so many send the newest fix first and the older ones late. The others send a burst.
 */
const lateChance = 0.3;

interface Fix {
  readonly longitude: number;
  readonly latitude: number;
  readonly accuracyM: number;
  readonly timeMs: number;
}

/** A device without its connection. */
interface Outage {
  remaining: number;
  readonly fixes: Fix[];
}

/** Draws the fixes of a fleet, the same for the same seed. Speeds are in metres a second. */
export function drawFleet({ devices, count, places, speedsMps, seed }: FleetOptions): Fixes {
  const random = createRandom(seed);
  const movement = createMovement(devices, places, speedsMps, random);
  const outages = new Map<number, Outage>();
  const fixes = emptyFixes(count, devices);
  let length = 0;
  const add = (device: number, fix: Fix, isLate: boolean): void => {
    if (length === count) return;
    fixes.devices[length] = device;
    fixes.longitudes[length] = fix.longitude;
    fixes.latitudes[length] = fix.latitude;
    fixes.accuraciesM[length] = fix.accuracyM;
    fixes.timesMs[length] = fix.timeMs;
    fixes.late[length] = isLate ? 1 : 0;
    length += 1;
  };
  for (let interval = 0; length < count; interval++) {
    for (let device = 0; device < devices && length < count; device++) {
      const fix = movement.report(device, startMs + interval * reportIntervalMs + (device % reportIntervalMs));
      const current = outages.get(device);
      if (current === undefined) {
        if (interval > 0 && random.chance(outage.chance)) {
          outages.set(device, { remaining: random.integer(outage.from, outage.to), fixes: [fix] });
        } else add(device, fix, false);
        continue;
      }
      current.remaining -= 1;
      if (current.remaining > 0) {
        current.fixes.push(fix);
        continue;
      }
      outages.delete(device);
      const isLate = random.chance(lateChance);
      if (isLate) add(device, fix, false);
      for (const earlier of current.fixes) add(device, earlier, isLate);
      if (!isLate) add(device, fix, false);
    }
  }
  return fixes;
}

const emptyFixes = (count: number, deviceCount: number): Fixes => ({
  count,
  deviceCount,
  devices: new Int32Array(count),
  longitudes: new Float64Array(count),
  latitudes: new Float64Array(count),
  accuraciesM: new Float32Array(count),
  timesMs: new Float64Array(count),
  late: new Uint8Array(count),
});

/** Moves devices on straight lines from stop to stop, in metres around the centres of their places. */
function createMovement(
  devices: number,
  places: readonly Place[],
  [slowest, fastest]: readonly [number, number],
  random: Random,
) {
  const pick = placePicker(places);
  const placeOf = Int32Array.from({ length: devices }, () => pick(random));
  const spreadOf = (device: number): number => places[placeOf[device]!]!.spreadM;
  const draw = (device: number): number => spreadOf(device) * random.normal();
  const east = Float64Array.from({ length: devices }, (_, device) => draw(device));
  const north = Float64Array.from({ length: devices }, (_, device) => draw(device));
  const targetEast = Float64Array.from({ length: devices }, (_, device) => draw(device));
  const targetNorth = Float64Array.from({ length: devices }, (_, device) => draw(device));
  const stepM = Float64Array.from({ length: devices }, () => random.between(slowest, fastest) * intervalS);
  const stopped = new Uint8Array(devices);

  function advance(device: number): void {
    if (stopped[device]! > 0) {
      stopped[device]! -= 1;
      return;
    }
    const toEast = targetEast[device]! - east[device]!;
    const toNorth = targetNorth[device]! - north[device]!;
    const distanceM = Math.hypot(toEast, toNorth);
    const share = Math.min(1, stepM[device]! / Math.max(distanceM, 1e-9));
    east[device]! += share * toEast;
    north[device]! += share * toNorth;
    if (share < 1) return;
    stopped[device] = random.integer(stop.from, stop.to);
    targetEast[device] = draw(device);
    targetNorth[device] = draw(device);
  }

  return {
    /** Moves the device by one interval, and returns what it reports. */
    report(device: number, timeMs: number): Fix {
      advance(device);
      const accuracyM = Math.min(100, 4 - 8 * Math.log(1 - random.next()));
      const center = places[placeOf[device]!]!.center;
      const [longitude, latitude]: Position = offset(
        center,
        east[device]! + (accuracyM / 2) * random.normal(),
        north[device]! + (accuracyM / 2) * random.normal(),
      );
      return {
        longitude: roundToSixDigits(longitude),
        latitude: roundToSixDigits(latitude),
        accuracyM: Math.round(accuracyM),
        timeMs,
      };
    },
  };
}

/** As phones report them, about 10 cm. So every engine is given the same number. */
const roundToSixDigits = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;
