/**
 * Reads a location, by the same rules for all senders: SDKs with JSON or forms, backends with lines or Avro. Pure.
 *
 * Input: the fields of a body and the circumstances of its receipt. Output: a Location ready for the log, or the
 * field at fault and its rule. Unknown keys are ignored.
 */
import { type BeaconIdentifiers, normalizeRangedBeacon } from '../../pipeline/evaluation/beacons.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import type { Environment } from '../../schemas/json/common.js';
import type { Location, RangedBeacon } from '../../schemas/records.js';
import { readStructure } from '../fields/structures.js';
import { wellFormedRule } from '../fields/text.js';
import { readBoolean, readNumber, readText, rules } from '../fields/values.js';
import { type DetailFields, readDescription, readDetails } from './details.js';
import { readOccurredAt, type TimeFields } from './occurred-at.js';
import { isTimeless } from './timeless.js';

/** The circumstances under which a body was received. */
export interface Receipt {
  readonly project: string;
  readonly environment: Environment;
  /** Epoch ms. */
  readonly receivedAt: number;
  /** IP address of the sender; null when somebody else hands the locations in. */
  readonly ip: string | null;
  /** All locations of the request are late. */
  readonly replayed: boolean;
  /** Address for the outcome; null when nobody waits for it. */
  readonly replyTo: string | null;
}

/** The raw fields. */
export interface TrackFields extends TimeFields, DetailFields {
  readonly deviceId?: unknown;
  readonly userId?: unknown;
  readonly latitude?: unknown;
  readonly longitude?: unknown;
  readonly accuracy?: unknown;
  readonly foreground?: unknown;
  readonly stopped?: unknown;
  readonly beacons?: unknown;
  readonly anonymous?: unknown;
}

/** Longest `deviceId` or `userId`, in UTF-16 code units. Keys of the stores have a limit. */
export const maxIdCharacters = 256;
const maxSourceCharacters = 100;
const maxRangedBeacons = 1_000;

/**
 * Returns the ranged beacons that have valid identifiers; others are ignored. Null: the request does not report
 * beacons.
 */
function readBeacons(value: unknown): Validated<RangedBeacon[] | null> {
  const given = readStructure('beacons', value);
  if (!given.ok) return given;
  if (given.value === undefined) return { ok: true, value: null };
  if (!Array.isArray(given.value)) return invalid('beacons', 'must be a list');
  if (given.value.length > maxRangedBeacons)
    return invalid('beacons', `must be a list of at most ${maxRangedBeacons} items`);
  const ranged = given.value.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null ? (normalizeRangedBeacon(item as BeaconIdentifiers) ?? []) : [],
  );
  return { ok: true, value: ranged };
}

/**
 * Half of the equator: such a device may be anywhere. Browsers that locate by IP address report hundreds of kilometres.
 * The bounds of evaluation limit what a huge accuracy costs.
 */
export const maxAccuracyM = 20_037_508;

/** Returns whether accuracy may be absent: web clients may pass their own coordinates, which have none. */
const isWithoutAccuracy = (fields: TrackFields): boolean => fields.deviceType === 'Web';

/**
 * Reads an id. Ids become keys, so they must be well-formed: two malformed ids could have the same UTF-8 form and share
 * a state. Null: not given.
 */
function readId(name: 'deviceId' | 'userId', value: unknown): Validated<string | null> {
  const id = readText(value);
  if (id === undefined) return { ok: true, value: null };
  if (id === null || id.length > maxIdCharacters) {
    return invalid(name, `must be text of at most ${maxIdCharacters} characters`);
  }
  return id.isWellFormed() ? { ok: true, value: id } : invalid(name, wellFormedRule);
}

const isWithin = (value: number | null, minimum: number, maximum: number): value is number =>
  value !== null && value >= minimum && value <= maximum;

/** Returns the location that a body describes, with a fresh id. */
export function readLocation(fields: TrackFields, receipt: Receipt): Validated<Location> {
  if (readBoolean(fields.anonymous))
    return invalid('anonymous', 'is not supported: a location requires its own deviceId');
  const deviceId = readId('deviceId', fields.deviceId);
  if (!deviceId.ok) return deviceId;
  if (deviceId.value === null) return invalid('deviceId', 'is required');
  const userId = readId('userId', fields.userId);
  if (!userId.ok) return userId;
  const latitude = readNumber(fields.latitude);
  if (latitude === undefined) return invalid('latitude', 'is required');
  if (!isWithin(latitude, -90, 90)) return invalid('latitude', 'must be a number from -90 to 90');
  const longitude = readNumber(fields.longitude);
  if (longitude === undefined) return invalid('longitude', 'is required');
  if (!isWithin(longitude, -180, 180)) return invalid('longitude', 'must be a number from -180 to 180');
  const given = readNumber(fields.accuracy);
  const accuracy = given === undefined && isWithoutAccuracy(fields) ? 0 : given;
  if (accuracy === undefined) return invalid('accuracy', 'is required');
  if (!isWithin(accuracy, 0, maxAccuracyM))
    return invalid('accuracy', `must be a number from 0 to ${maxAccuracyM} metres`);
  const foreground = readBoolean(fields.foreground);
  if (foreground === null) return invalid('foreground', rules.boolean);
  const stopped = readBoolean(fields.stopped);
  if (stopped === null) return invalid('stopped', rules.boolean);
  const replayed = readBoolean(fields.replayed);
  if (replayed === null) return invalid('replayed', rules.boolean);
  const timed = isTimeless(fields) ? { ...fields, updatedAtMsDiff: null } : fields;
  const time = readOccurredAt(timed, receipt.receivedAt);
  if (!time.ok) return time;
  const beacons = readBeacons(fields.beacons);
  if (!beacons.ok) return beacons;
  const details = readDetails(fields);
  if (!details.ok) return details;
  const source = readDescription('source', fields.source, maxSourceCharacters);
  if (!source.ok) return source;
  return {
    ok: true,
    value: {
      id: freshId(receipt.receivedAt),
      project: receipt.project,
      environment: receipt.environment,
      deviceId: deviceId.value,
      userId: userId.value,
      latitude,
      longitude,
      accuracy_m: accuracy,
      occurredAt: time.value.occurredAt,
      receivedAt: receipt.receivedAt,
      deviceTimed: time.value.deviceTimed,
      foreground: foreground === true,
      stopped: stopped === true,
      replayed: receipt.replayed || replayed === true,
      beacons: beacons.value,
      ip: receipt.ip,
      source: source.value,
      replyTo: receipt.replyTo,
      details: details.value,
    },
  };
}
