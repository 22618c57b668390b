/** Events that clients report themselves: from a request to the record on topic `events`. Pure. */

import type { Caller } from '../../http/access/keys.js';
import { metadataField } from '../../http/fields/structures.js';
import { parseIsoTime } from '../../http/fields/times.js';
import { dateRule, maxAheadMs, minEpochMs } from '../../http/location/occurred-at.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { type Metadata, maxUserMetadataKeys } from '../../schemas/json/common.js';
import type { Event, UserState } from '../../schemas/records.js';

/** As the schema ConversionRequest lets it through. */
export interface ConversionFields {
  readonly name?: string;
  readonly type?: string;
  readonly userId?: string;
  readonly deviceId?: string;
  readonly installId?: string;
  readonly createdAt?: string;
  readonly revenue?: number;
  readonly duration?: number;
  readonly metadata?: unknown;
}

/** Names of events that only evaluation makes. */
export const isReserved = (name: string): boolean => name.startsWith('user.');

const namePattern = /^[\w.-]{1,100}$/;

function createdAtOf(text: string | undefined, nowMs: number): Validated<number> {
  if (text === undefined) return { ok: true, value: nowMs };
  const createdAt = parseIsoTime(text);
  if (createdAt === undefined || createdAt < minEpochMs) return invalid('createdAt', dateRule);
  return { ok: true, value: createdAt > nowMs + maxAheadMs ? nowMs : createdAt };
}

/** Revenue travels in the metadata, where web clients put it themselves. */
const withRevenue = (metadata: Metadata | null, revenue: number | undefined): Metadata | null =>
  revenue === undefined ? metadata : { ...metadata, revenue };

function userOfEvent({ userId, deviceId, installId }: ConversionFields, user: UserState | undefined): Event['user'] {
  if (userId === undefined && deviceId === undefined && installId === undefined) return null;
  const profile = user?.profile ?? (installId === undefined ? null : JSON.stringify({ installId }));
  return { id: user?.id ?? null, userId: userId ?? user?.userId ?? null, deviceId: deviceId ?? null, profile };
}

/** The event with nothing of the stored user in it: for a caller who may not read users. */
export const conversionAsSent = (event: Event, fields: ConversionFields): Event => ({
  ...event,
  user: userOfEvent(fields, undefined),
});

/** The name, or what is wrong with it. */
export function conversionName({ name, type }: ConversionFields): Validated<string> {
  const given = name ?? type;
  if (given === undefined) return invalid('name', 'is required');
  return namePattern.test(given)
    ? { ok: true, value: given }
    : invalid('name', 'must be 1 to 100 letters, digits, _ . or -');
}

/** The event, with a fresh id. `user` is the stored user of the device, if there is one. */
export function readConversion(
  fields: ConversionFields,
  caller: Pick<Caller, 'project' | 'environment'>,
  user: UserState | undefined,
  nowMs: number,
): Validated<Event> {
  const name = conversionName(fields);
  if (!name.ok) return name;
  const createdAt = createdAtOf(fields.createdAt, nowMs);
  if (!createdAt.ok) return createdAt;
  const metadata = metadataField('metadata', fields.metadata, maxUserMetadataKeys);
  if (!metadata.ok) return metadata;
  const told = withRevenue(metadata.value, fields.revenue);
  return {
    ok: true,
    value: {
      id: freshId(nowMs),
      type: name.value,
      project: caller.project,
      environment: caller.environment,
      createdAt: createdAt.value,
      actualCreatedAt: nowMs,
      locationId: null,
      user: userOfEvent(fields, user),
      geofence: null,
      beacon: null,
      longitude: null,
      latitude: null,
      accuracy_m: null,
      confidence: 3,
      duration_min: fields.duration ?? null,
      currentlyOperating: null,
      foreground: null,
      stopped: null,
      replayed: false,
      source: null,
      metadata: told === null ? null : JSON.stringify(told),
    },
  };
}
