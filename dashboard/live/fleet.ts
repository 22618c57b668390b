/** Where devices are on a live map, and where they are drawn while they move from one position to the next. Pure. */
import type { UserPosition } from '../../client/types';

/** Bound of the devices on the map: those that were heard of last. */
export const maxDevices = 5_000;
/** The time that a device takes on the map from one position to the next. */
const glideMs = 1_200;
/** A device that jumps farther appears at its new place. */
const maxGlideDegrees = 0.5;

interface Moving {
  readonly position: UserPosition;
  readonly from: readonly [number, number];
  readonly startedAtMs: number;
}

/** By the `_id` of the user. */
export type Fleet = ReadonlyMap<string, Moving>;

export const noFleet: Fleet = new Map();

const byReceipt = (one: Moving, other: Moving): number =>
  one.position.receivedAt < other.position.receivedAt
    ? 1
    : one.position.receivedAt > other.position.receivedAt
      ? -1
      : 0;

/** Returns where the device is drawn: on the way, then at its position. */
export function drawnAt({ position, from, startedAtMs }: Moving, nowMs: number): [number, number] {
  const [longitude, latitude] = position.coordinates;
  const share = Math.min(1, Math.max(0, (nowMs - startedAtMs) / glideMs));
  if (share === 1) return [longitude, latitude];
  return [from[0] + (longitude - from[0]) * share, from[1] + (latitude - from[1]) * share];
}

/** Takes newer positions. Keeps the devices that were received last. Returns the same fleet if none is newer. */
export function moved(fleet: Fleet, positions: readonly UserPosition[], nowMs: number): Fleet {
  const next = new Map(fleet);
  let isNew = false;
  for (const position of positions) {
    const known = next.get(position.user);
    if (known && known.position.receivedAt >= position.receivedAt) continue;
    isNew = true;
    const [longitude, latitude] = position.coordinates;
    const here = known && drawnAt(known, nowMs);
    const isNear = here && Math.abs(here[0] - longitude) + Math.abs(here[1] - latitude) < maxGlideDegrees;
    next.set(position.user, { position, from: isNear ? here : position.coordinates, startedAtMs: nowMs });
  }
  if (!isNew) return fleet;
  if (next.size <= maxDevices) return next;
  return new Map([...next].sort(([, one], [, other]) => byReceipt(one, other)).slice(0, maxDevices));
}

/** Tests whether a device is still on its way. */
export function isMoving(fleet: Fleet, nowMs: number): boolean {
  for (const { position, from, startedAtMs } of fleet.values()) {
    const [longitude, latitude] = position.coordinates;
    if (nowMs - startedAtMs < glideMs && (from[0] !== longitude || from[1] !== latitude)) return true;
  }
  return false;
}

/** A fleet of thousands is drawn less often, so that the page stays fluid. */
const manyDevices = 1_000;
const everyMs = { few: 50, many: 150 };
/** Devices are drawn for at most a third of the time: without a graphics processor, the rest waits for it. */
const pauseFactor = 3;

/** Returns how often moving devices are drawn. @param longestMs the longest time of a frame since the last drawing. */
export const drawEveryMs = (devices: number, longestMs: number): number =>
  Math.max(devices > manyDevices ? everyMs.many : everyMs.few, longestMs * pauseFactor);

/** Positions of other devices may be stored a moment later. */
const overlapMs = 5_000;

/** Returns the time after which to ask for newer positions: some seconds before the newest receipt. */
export function askAfter(fleet: Fleet): string | undefined {
  let newest = '';
  for (const { position } of fleet.values()) if (position.receivedAt > newest) newest = position.receivedAt;
  return newest === '' ? undefined : new Date(Date.parse(newest) - overlapMs).toISOString();
}
