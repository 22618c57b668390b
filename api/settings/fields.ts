/** The fields of a project's settings, and a partial change of them. Pure. */
import Type from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import {
  booleanField,
  type Field,
  field,
  integerField,
  numberField,
  readChange,
  refuseUnknown,
  withDefault,
} from '../../http/fields/table.js';
import { textOf } from '../../http/fields/values.js';
import { defaultSettings, Settings } from '../../schemas/json/project.js';

const maxDwellThreshold_min = 525_600;
const maxBeaconGroups = 100;
const maxAllowedOrigins = 100;

type Setting = keyof Settings;

/** Returns the field with the schema and the default of the setting. */
const setting = <Name extends Setting>(name: Name, of: Field<Settings[Name] | null>): Field<Settings[Name]> => ({
  ...withDefault(of, defaultSettings[name]),
  schema: Settings.properties[name],
});

/** The fields of a project's settings in requests. A field that is left out has its default. */
export const settingsFields = {
  stopDetection: setting('stopDetection', booleanField()),
  bufferEntries: setting('bufferEntries', booleanField()),
  bufferExits: setting('bufferExits', booleanField()),
  restrictToOperatingHours: setting('restrictToOperatingHours', booleanField()),
  dwellEvents: setting('dwellEvents', booleanField()),
  defaultDwellThreshold: setting(
    'defaultDwellThreshold',
    numberField({ minimum: 0, maximum: maxDwellThreshold_min, unit: 'minutes' }),
  ),
  minimumConfidence: setting('minimumConfidence', integerField({ minimum: 1, maximum: 3 })),
  beaconUuids: setting('beaconUuids', beaconGroups(normalUuid, 'UUIDs of 32 hex digits')),
  beaconUids: setting('beaconUids', beaconGroups(normalUid, 'UIDs of 20 hex digits')),
  allowedOrigins: { ...field(readOrigins, Settings.properties.allowedOrigins), isRequired: false },
} satisfies Record<Setting, Field<unknown>>;

/**
 * Returns the settings after a change. A setting that is not named stays; null or empty text puts it back to its
 * default.
 */
export function changeSettings(current: Settings, fields: RawFields): Outcome<Settings> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, settingsFields, fields);
  const before = { ...current, allowedOrigins: current.allowedOrigins };
  const { allowedOrigins, ...changed } = readChange(reader, settingsFields, fields, before);
  return reader.outcome(() => ({ ...changed, ...(allowedOrigins && { allowedOrigins }) }));
}

/** Reads origins in normal form; undefined: all are allowed. */
function readOrigins(reader: FieldReader, name: string): string[] | undefined {
  const given = reader.list(name)?.map((value) => textOf(value)?.trim() ?? '');
  if (given === undefined || given.length === 0) return undefined;
  const origins = given.map((text) => (URL.canParse(text) ? new URL(text).origin : 'null'));
  const areOrigins = origins.every((origin, index) => /^https?:/.test(origin) && isOrigin(given[index]!));
  if (areOrigins && given.length <= maxAllowedOrigins) return [...new Set(origins)];
  reader.refuse(name, `must be at most ${maxAllowedOrigins} origins such as https://example.com, without a path`);
  return undefined;
}

const isOrigin = (text: string): boolean => /^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && text.length <= 255;

function beaconGroups(normal: (text: string) => string | undefined, what: string): Field<string[] | null> {
  return field((reader, name) => {
    const groups = reader.list(name)?.map((value) => normal(textOf(value)?.trim().toLowerCase() ?? ''));
    if (groups === undefined) return null;
    if (groups.length > maxBeaconGroups || groups.includes(undefined)) {
      return reader.refuse(name, `must be at most ${maxBeaconGroups} ${what}`);
    }
    return [...new Set(groups as string[])];
  }, Type.Array(Type.String()));
}

/** Returns 8-4-4-4-12 in lower case. */
function normalUuid(text: string): string | undefined {
  const digits = text.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits)
    ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined;
}

function normalUid(text: string): string | undefined {
  return /^[0-9a-f]{20}$/.test(text) ? text : undefined;
}
