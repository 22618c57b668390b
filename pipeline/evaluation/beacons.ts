/**
 * The identifiers of beacons in normal form, so that what a device ranged and what an owner registered compare equal.
 */
import type { RangedBeacon } from '../../schemas/records.js';

/**
 * Identifiers as a client sends them, unchecked: uuid, major and minor of an ibeacon; uid and instance of an eddystone.
 */
export interface BeaconIdentifiers {
  readonly type?: unknown;
  readonly uuid?: unknown;
  readonly major?: unknown;
  readonly minor?: unknown;
  readonly uid?: unknown;
  readonly instance?: unknown;
  /** Signal strength in dBm. */
  readonly rssi?: unknown;
}

const maxDecimal = 65_535;
const maxRssi_dbm = 200;

/**
 * Hex in lower case, uuid as 8-4-4-4-12, decimals without leading zeros. Undefined when an identifier is missing or
 * malformed.
 */
export function normalizeRangedBeacon(input: BeaconIdentifiers): RangedBeacon | undefined {
  if (input.type === 'ibeacon') {
    return ranged(
      'ibeacon',
      normalizeUuid(input.uuid),
      normalizeDecimal(input.major),
      normalizeDecimal(input.minor),
      input.rssi,
    );
  }
  if (input.type === 'eddystone') {
    return ranged('eddystone', normalizeHex(input.uid, 20), '', normalizeHex(input.instance, 12), input.rssi);
  }
  return undefined;
}

/** Equal for equal beacons: a key for maps. Signal strength doesn't count. */
export const beaconKey = ({ type, group, major, minor }: Omit<RangedBeacon, 'rssi_dbm'>): string =>
  `${type}/${group}/${major}/${minor}`;

/** What was ranged as one text, whatever its order and repetitions; null when nothing was said of beacons. */
export const rangedText = (beacons: readonly RangedBeacon[] | null): string | null =>
  beacons === null ? null : [...new Set(beacons.map(beaconKey))].sort().join(',');

function ranged(
  type: RangedBeacon['type'],
  group: string | undefined,
  major: string | undefined,
  minor: string | undefined,
  rssi: unknown,
): RangedBeacon | undefined {
  if (group === undefined || major === undefined || minor === undefined) return undefined;
  return { type, group, major, minor, rssi_dbm: normalizeRssi(rssi) };
}

function normalizeUuid(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^\s*([\da-f]{8})(-?)([\da-f]{4})\2([\da-f]{4})\2([\da-f]{4})\2([\da-f]{12})\s*$/.exec(
    value.toLowerCase(),
  );
  return match === null ? undefined : `${match[1]}-${match[3]}-${match[4]}-${match[5]}-${match[6]}`;
}

function normalizeDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  const match = /^\s*0*(\d{1,5})\s*$/.exec(text);
  return match === null || Number(match[1]) > maxDecimal ? undefined : String(Number(match[1]));
}

function normalizeHex(value: unknown, digits: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim().toLowerCase();
  return text.length === digits && /^[\da-f]+$/.test(text) ? text : undefined;
}

/** Devices send 0 or nonsense when they don't know: null. */
const normalizeRssi = (value: unknown): number | null =>
  typeof value === 'number' && value !== 0 && Math.abs(value) <= maxRssi_dbm ? Math.round(value) : null;
