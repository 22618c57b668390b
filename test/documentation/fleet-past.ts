/**
 * The fleet's past: what its devices have reported on earlier days. Pure: the same fleet, seed and times give the same
 * locations.
 *
 * In: a fleet, and the span of time. Out: track bodies of each device in the order of time. Devices move in outings of
 * about an hour, most of them in the morning, at noon and in the evening. The last outing ends with the span.
 */
import { dayMs, hourMs } from '../../schemas/durations.js';
import type { Random } from '../../schemas/random.js';
import type { Device } from '../../simulation/fleet.js';

const reportEveryMs = 25_000;
const outingMs = [0.4 * hourMs, 1.3 * hourMs] as const;
/** Hours of the day around which outings begin, and how far from them. */
const busyHours = [8.5, 12.5, 17.5] as const;
const spreadHours = 1.3;
/** Days of rest: the fleet is half as busy on these. */
const quietDays = [0, 6];
/** The past moves at this share of the fleet's speed, so that visits last minutes. */
const pace = 0.16;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PastFix extends ReturnType<Device['fix']> {
  readonly deviceId: string;
  readonly userId: string;
  readonly deviceType: 'iOS' | 'Android';
  readonly updatedAtMs: number;
}

/** Returns the outings of one device, which do not overlap, in the order of time. */
export function outingsOf({ fromMs, toMs }: Span, random: Random): Span[] {
  const outings: Span[] = [];
  for (let dayStartMs = Math.floor(fromMs / dayMs) * dayMs; dayStartMs < toMs; dayStartMs += dayMs) {
    const isQuiet = quietDays.includes(new Date(dayStartMs).getUTCDay());
    for (const hour of busyHours) {
      const startMs = dayStartMs + (hour + random.normal() * spreadHours) * hourMs;
      const endMs = startMs + random.between(...outingMs);
      const isTaken = random.chance(isQuiet ? 0.3 : 0.6);
      const isFree = startMs >= Math.max(fromMs, outings.at(-1)?.toMs ?? fromMs) && endMs < toMs - outingMs[1];
      if (isTaken && isFree) outings.push({ fromMs: startMs, toMs: endMs });
    }
  }
  return [...outings, { fromMs: toMs - random.between(...outingMs), toMs }];
}

/** Moves the devices through the span, and returns what each reports. */
export function* pastOf(fleet: readonly Device[], span: Span, random: Random): Generator<PastFix> {
  for (const device of fleet) {
    for (const { fromMs, toMs } of outingsOf(span, random)) {
      for (let atMs = fromMs; atMs < toMs; atMs += reportEveryMs) {
        device.advance((reportEveryMs / 1000) * pace);
        yield {
          deviceId: device.deviceId,
          userId: device.userId,
          deviceType: device.role === 'commuter' ? 'iOS' : 'Android',
          ...device.fix(),
          updatedAtMs: Math.round(atMs),
        };
      }
    }
  }
}
