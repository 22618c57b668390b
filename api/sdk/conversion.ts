/** Conversions, the events that clients report themselves: from a request to the record on topic `events`. Pure. */
import { FieldReader, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { isDictionary } from '../../http/fields/values.js';
import { readUserMetadata } from '../../http/location/details.js';
import { checkRecent, maxAheadMs } from '../../http/location/occurred-at.js';
import { maxIdCharacters } from '../../http/location/request.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { freshId } from '../../schemas/ids.js';
import type { Metadata } from '../../schemas/json/common.js';
import { conversionNamePattern, conversionNameRule } from '../../schemas/json/user.js';
import type { Event, UserState } from '../../schemas/records.js';

/** An event that an app reports, in normal form. Null: the app did not send it. */
export interface Conversion {
  readonly name: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly installId: string | null;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly duration_min: number | null;
  readonly metadata: Metadata | null;
}

/** Returns whether only evaluation may make events of this name. */
export const isReserved = (name: string): boolean => name.startsWith('user.');

function readName(reader: FieldReader): string | null {
  // Mobile SDKs send the name as `type`.
  const name = reader.required('name', reader.text('name', maxTextLength) ?? reader.text('type', maxTextLength));
  return name === null || conversionNamePattern.test(name)
    ? name
    : reader.refuse('name', `must be ${conversionNameRule}`);
}

/** A time that is too far ahead comes from a wrong clock; the time of receipt replaces it. */
function readCreatedAt(reader: FieldReader, nowMs: number): number {
  const given = reader.time('createdAt');
  const createdAt = given === null ? nowMs : reader.take(checkRecent('createdAt', given));
  return createdAt === null || createdAt > nowMs + maxAheadMs ? nowMs : createdAt;
}

/**
 * Returns metadata without nested values, if it is the payload of a notification. The SDK for iOS sends that as it is,
 * with `aps` and what the sender of the notification has added, and tells nobody of a refusal.
 */
const keptMetadata = (metadata: unknown): unknown =>
  isDictionary(metadata) && Object.hasOwn(metadata, 'conversionSource')
    ? Object.fromEntries(Object.entries(metadata).filter(([, value]) => typeof value !== 'object'))
    : metadata;

/** Reads a conversion, or returns the first error. `nowMs` is the time of receipt. */
export function readConversion(fields: RawFields, nowMs: number): Outcome<Conversion> {
  const reader = new FieldReader(fields);
  const name = readName(reader);
  const ids = {
    userId: reader.text('userId', maxIdCharacters),
    deviceId: reader.text('deviceId', maxIdCharacters),
    installId: reader.text('installId', maxIdCharacters),
  };
  const createdAt = readCreatedAt(reader, nowMs);
  // Web clients put the revenue into the metadata themselves.
  const revenue = reader.number('revenue');
  const duration_min = reader.number('duration', { minimum: 0, unit: 'minutes' });
  const metadataText = reader.take(readUserMetadata(keptMetadata(reader.structure('metadata'))));
  const metadata = metadataText === null ? null : (JSON.parse(metadataText) as Metadata);
  return reader.outcome(() => ({
    name: name as string,
    ...ids,
    createdAt,
    duration_min,
    metadata: revenue === null ? metadata : { ...metadata, revenue },
  }));
}

function userOf({ userId, deviceId, installId }: Conversion, user: UserState | undefined): Event['user'] {
  if (userId === null && deviceId === null && installId === null) return null;
  const profile = user?.profile ?? (installId === null ? null : JSON.stringify({ installId }));
  return { id: user?.id ?? null, userId: userId ?? user?.userId ?? null, deviceId, profile };
}

/** Returns the event without what is stored about the user: for a caller who may not read users. */
export const eventAsSent = (event: Event, conversion: Conversion): Event => ({
  ...event,
  user: userOf(conversion, undefined),
});

/** Makes the event, with a fresh id. `user` is the stored user of the device, if there is one. */
export const eventOf = (
  conversion: Conversion,
  { project, environment }: Scope,
  user: UserState | undefined,
  nowMs: number,
): Event => ({
  id: freshId(nowMs),
  type: conversion.name,
  project,
  environment,
  createdAt: conversion.createdAt,
  actualCreatedAt: nowMs,
  locationId: null,
  user: userOf(conversion, user),
  geofence: null,
  beacon: null,
  longitude: null,
  latitude: null,
  accuracy_m: null,
  confidence: 3,
  duration_min: conversion.duration_min,
  currentlyOperating: null,
  foreground: null,
  stopped: null,
  replayed: false,
  source: null,
  metadata: conversion.metadata === null ? null : JSON.stringify(conversion.metadata),
  metadataOmitted: false,
});
