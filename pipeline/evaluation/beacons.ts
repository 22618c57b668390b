/**
 * Normalizes the identifiers of beacons, so that ranged and registered beacons compare equal.
 */
import type { RangedBeacon } from '../../schemas/records.js';

/**
 * Unchecked identifiers from a client: uuid, major and minor of an iBeacon; uid and instance of an Eddystone beacon.
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
 * Returns a beacon in normal form: hex in lower case, uuid as 8-4-4-4-12, decimals without leading zeros. Undefined if
 * an identifier is missing or invalid.
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

/** Returns a map key, equal for equal beacons. Ignores signal strength. */
export const beaconKey = ({ type, group, major, minor }: Omit<RangedBeacon, 'rssi_dbm'>): string =>
  `${type}/${group}/${major}/${minor}`;

/** Returns the ranged beacons as one comparable text, without order and repetitions; null if none were reported. */
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

/** Returns null for 0 and impossible values, which devices send for an unknown strength. */
const normalizeRssi = (value: unknown): number | null =>
  typeof value === 'number' && value !== 0 && Math.abs(value) <= maxRssi_dbm ? Math.round(value) : null;
