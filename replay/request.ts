/** The body of a request for a replay. Pure. */
import Type from 'typebox';
import { type GeofenceInput, readPlainGeofence } from '../api/geofences/fields.js';
import { changeSettings } from '../api/settings/fields.js';
import { FieldReader, type Outcome, type RawFields } from '../http/fields/reader.js';
import { booleanField, dateField, field, numberField, readTable, refuseUnknown } from '../http/fields/table.js';
import { isDictionary } from '../http/fields/values.js';
import { dayMs, hourMs } from '../schemas/durations.js';
import type { ProjectRecord } from '../schemas/json/project.js';
import type { Erased } from './erased.js';
import type { ReplayJob } from './job.js';

const maxRangeHours = 8 * 24;
const maxGeofences = 1_000;
const maxWarmUpHours = 7 * 24;
const defaultWarmUpHours = 24;

/** The fields of a request for a replay. */
export const replayFields = {
  from: dateField('Locations received then or later, ISO 8601. Default: 7 days before `to`'),
  to: dateField('Locations received before, ISO 8601. Default: now'),
  warmUpHours: numberField(
    { minimum: 0, maximum: maxWarmUpHours, unit: 'hours' },
    'How long before the range devices are followed, to know which geofences they were inside of. ' +
      `Default: ${defaultWarmUpHours}`,
  ),
  geofences: field(
    (reader, name) => reader.list(name) ?? null,
    Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: maxGeofences }),
    { description: 'Proposed geofences, as POST /v1/geofences takes them, by coordinates' },
  ),
  keepGeofences: booleanField(
    'Whether the current geofences take part as well. One with the tag and externalId of a proposed one is replaced. ' +
      'Default: true',
  ),
  settings: field((reader, name) => reader.dictionary(name) ?? null, Type.Object({}, { additionalProperties: true }), {
    description: 'Changed settings, as PATCH /v1/settings takes them',
  }),
};

/** Reads the proposed geofences. A problem names the geofence and its field. */
function readGeofences(reader: FieldReader, given: readonly unknown[]): GeofenceInput[] {
  const pairs = new Set<string>();
  if (given.length > maxGeofences) reader.refuse('geofences', `must be at most ${maxGeofences}`);
  return given.slice(0, maxGeofences).flatMap((each, index) => {
    const place = `geofences[${index}]`;
    if (!isDictionary(each)) {
      reader.refuse(place, 'must be an object of fields');
      return [];
    }
    const read = readPlainGeofence(each);
    if (!read.ok) {
      const { param, rule, message, code } = read.error;
      reader.refuse(param === undefined ? place : `${place}.${param}`, rule ?? message, code);
      return [];
    }
    const pair = JSON.stringify([read.value.tag, read.value.externalId]);
    if (pairs.has(pair)) reader.refuse(`${place}.externalId`, 'occurs twice with this tag');
    pairs.add(pair);
    return [read.value];
  });
}

/**
 * Reads the body of a request for a replay. The range ends at `nowMs` at the latest.
 * @param erased what the replay leaves out.
 */
export function readReplay(
  project: ProjectRecord,
  scope: ReplayJob['scope'],
  erased: Erased,
  body: RawFields,
  nowMs: number,
): Outcome<ReplayJob> {
  const reader = new FieldReader(body);
  refuseUnknown(reader, replayFields, body);
  const given = readTable(reader, replayFields);
  const toMs = Math.min(given.to ?? nowMs, nowMs);
  const fromMs = given.from ?? toMs - 7 * dayMs;
  if (fromMs >= toMs) reader.refuse('from', 'must be before `to`, and in the past');
  if (toMs - fromMs > maxRangeHours * hourMs)
    reader.refuse('from', `must be at most ${maxRangeHours / 24} days before \`to\``);
  const geofences = given.geofences && readGeofences(reader, given.geofences);
  const settings = given.settings && changeSettings(project.settings[scope.environment], given.settings);
  if (settings && !settings.ok) {
    const { param = '', rule, message } = settings.error;
    reader.refuse(`settings.${param}`, rule ?? message);
  }
  if (!geofences && !settings) reader.refuse('geofences', 'is required, unless `settings` are given');
  return reader.outcome(() => ({
    project,
    scope,
    range: { fromMs, toMs },
    warmUpMs: (given.warmUpHours ?? defaultWarmUpHours) * hourMs,
    proposed: {
      ...(geofences && { geofences, keepsOthers: given.keepGeofences ?? true }),
      ...(settings?.ok && { settings: settings.value }),
    },
    erased,
  }));
}
