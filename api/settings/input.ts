/**
 * A partial change of a project's settings. Pure. What isn't named stays; null or '' puts a setting back to its
 * default.
 */

import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { textOf } from '../../http/fields/values.js';
import { defaultSettings, type Settings } from '../../schemas/json/project.js';
import { withoutUnset } from '../../schemas/wire/common.js';

export const maxDwellThreshold_min = 525_600;
export const maxBeaconGroups = 100;

/** The settings after the change. Unknown names are refused, for a misspelt setting would be off without a word. */
export function mergeSettings(current: Settings, fields: RawFields): Outcome<Settings> {
  const reader = new FieldReader(fields);
  const names = Object.keys(fields);
  const unknown = names.find((name) => !Object.hasOwn(defaultSettings, name));
  if (unknown !== undefined) reader.refuse(unknown, 'is not a setting');
  const cleared = names.filter((name) => reader.value(name) === undefined);
  const defaults = Object.fromEntries(Object.entries(defaultSettings).filter(([name]) => cleared.includes(name)));
  const changes = withoutUnset({
    stopDetection: reader.boolean('stopDetection'),
    bufferEntries: reader.boolean('bufferEntries'),
    bufferExits: reader.boolean('bufferExits'),
    restrictToOperatingHours: reader.boolean('restrictToOperatingHours'),
    dwellEvents: reader.boolean('dwellEvents'),
    defaultDwellThreshold: reader.number('defaultDwellThreshold', {
      minimum: 0,
      maximum: maxDwellThreshold_min,
      unit: 'minutes',
    }),
    minimumConfidence: reader.integer('minimumConfidence', { minimum: 1, maximum: 3 }),
    beaconUuids: readGroups(reader, 'beaconUuids', normalUuid, 'UUIDs of 32 hex digits'),
    beaconUids: readGroups(reader, 'beaconUids', normalUid, 'UIDs of 20 hex digits'),
  });
  return reader.outcome(() => ({ ...current, ...defaults, ...changes }));
}

function readGroups(
  reader: FieldReader,
  name: 'beaconUuids' | 'beaconUids',
  normal: (text: string) => string | undefined,
  what: string,
): string[] | null {
  const groups = reader.list(name)?.map((value) => normal(textOf(value)?.trim().toLowerCase() ?? ''));
  if (groups === undefined) return null;
  if (groups.length > maxBeaconGroups || groups.includes(undefined)) {
    return reader.refuse(name, `must be at most ${maxBeaconGroups} ${what}`);
  }
  return [...new Set(groups as string[])];
}

/** 8-4-4-4-12 in lower case. */
function normalUuid(text: string): string | undefined {
  const digits = text.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits)
    ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined;
}

const normalUid = (text: string): string | undefined => (/^[0-9a-f]{20}$/.test(text) ? text : undefined);
