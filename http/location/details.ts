/**
 * Reads what a device reports about itself beside its location. A value of another type is left out and never refuses a
 * location. Only broken `metadata` and malformed text do.
 */
import { invalid, type Validated } from '../../schemas/errors.js';
import { maxUserMetadataKeys } from '../../schemas/json/common.js';
import type { LocationDetails } from '../../schemas/records.js';
import { cutText } from '../../schemas/wording.js';
import { readMetadata } from '../fields/structures.js';
import { wellFormedRule } from '../fields/text.js';
import { readBoolean, readNumber, readText } from '../fields/values.js';
import { type ClockFields, readFixClock } from './timeless.js';

/** The raw fields of the details. SDKs differ in what they send, so none has a type yet. */
export interface DetailFields extends ClockFields {
  readonly installId?: unknown;
  readonly sessionId?: unknown;
  readonly description?: unknown;
  readonly metadata?: unknown;
  readonly deviceMake?: unknown;
  readonly deviceModel?: unknown;
  readonly deviceOS?: unknown;
  readonly locationAuthorization?: unknown;
  readonly locationAccuracyAuthorization?: unknown;
  readonly altitude?: unknown;
  readonly speed?: unknown;
  readonly course?: unknown;
  readonly timeZoneOffset?: unknown;
  readonly nearbyGeofences?: unknown;
}

const maxTextCharacters = 1_000;
const maxMetadataCharacters = 16_384;

/** Reads text of any length and truncates it; null when it is not text. */
export function readDescription(
  name: string,
  value: unknown,
  maxCharacters = maxTextCharacters,
): Validated<string | null> {
  const text = readText(value) ?? null;
  if (text === null) return { ok: true, value: null };
  return text.isWellFormed() ? { ok: true, value: cutText(text, maxCharacters) } : invalid(name, wellFormedRule);
}

const number = (value: unknown): number | null => readNumber(value) ?? null;

/** Returns the metadata as JSON text; null when there is none. */
export function readUserMetadata(value: unknown): Validated<string | null> {
  const metadata = readMetadata('metadata', value, { maxKeys: maxUserMetadataKeys });
  if (!metadata.ok || metadata.value === null) return metadata as Validated<null>;
  const json = JSON.stringify(metadata.value);
  if (json.length > maxMetadataCharacters)
    return invalid('metadata', `must be at most ${maxMetadataCharacters} characters of JSON`);
  return { ok: true, value: json };
}

const hasDetails = (details: LocationDetails): boolean => {
  for (const name in details) {
    const value = details[name as keyof LocationDetails];
    if (value !== null && value !== false) return true;
  }
  return false;
};

/** Reads the texts of one body, and remembers the first that is malformed. */
class Texts {
  malformed: Validated<never> | undefined;

  read(name: string, value: unknown): string | null {
    const text = readDescription(name, value);
    if (text.ok) return text.value;
    this.malformed ??= text;
    return null;
  }
}

/** Returns null when the device reports nothing about itself. */
export function readDetails(fields: DetailFields): Validated<LocationDetails | null> {
  const metadata = readUserMetadata(fields.metadata);
  if (!metadata.ok) return metadata;
  const texts = new Texts();
  // One literal: V8 makes objects whose keys are computed or spread several times slower.
  const details: LocationDetails = {
    installId: texts.read('installId', fields.installId),
    sessionId: texts.read('sessionId', fields.sessionId),
    description: texts.read('description', fields.description),
    metadata: metadata.value,
    deviceType: texts.read('deviceType', fields.deviceType),
    deviceMake: texts.read('deviceMake', fields.deviceMake),
    deviceModel: texts.read('deviceModel', fields.deviceModel),
    deviceOS: texts.read('deviceOS', fields.deviceOS),
    sdkVersion: texts.read('sdkVersion', fields.sdkVersion),
    locationAuthorization: texts.read('locationAuthorization', fields.locationAuthorization),
    locationAccuracyAuthorization: texts.read('locationAccuracyAuthorization', fields.locationAccuracyAuthorization),
    altitude_m: number(fields.altitude),
    speed_mps: number(fields.speed),
    course_deg: number(fields.course),
    timeZoneOffset_s: number(fields.timeZoneOffset),
    locationMs: readFixClock(fields),
    nearbyGeofences: readBoolean(fields.nearbyGeofences) === true,
  };
  if (texts.malformed !== undefined) return texts.malformed;
  return { ok: true, value: hasDetails(details) ? details : null };
}
