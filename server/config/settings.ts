/** The configuration schema as a flat list of settings, with their environment variables, and the reading of values. */
import { parseNetworks } from '../../outbound/addresses.js';
import { isBounds } from '../../providers/roads/boundary.js';
import { timeZoneNamed } from '../../schemas/time-zone.js';
import { isHttpUrl } from './http-url.js';
import { configurationSchema, roles, type SettingSchema, type SettingValue } from './schema.js';

/** A setting with its names. */
export interface Setting {
  /** Dotted key, for example `ingest.replyTimeoutMs`. */
  readonly key: string;
  /** Environment variable, for example `FENCELINE_INGEST_REPLY_TIMEOUT_MS`. */
  readonly variable: string;
  readonly schema: SettingSchema;
}

const variableOf = (key: string): string =>
  `FENCELINE_${key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`;

interface Section {
  readonly [name: string]: Section | SettingSchema;
}

const isSetting = (node: Section | SettingSchema): node is SettingSchema => typeof node.description === 'string';

const flatten = (section: Section, prefix = ''): Setting[] =>
  Object.entries(section).flatMap(([name, node]) => {
    const key = `${prefix}${name}`;
    return isSetting(node) ? [{ key, variable: variableOf(key), schema: node }] : flatten(node, `${key}.`);
  });

/** All settings in the order of the schema. */
export const settings: readonly Setting[] = flatten(configurationSchema);

type Reading<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly rule: string };

/** Returns the value of a setting from a text or a value of the configuration file, or the rule that it breaks. */
export function readSetting({ key, schema }: Setting, given: unknown): Reading<SettingValue> {
  if (schema.enum) {
    return schema.enum.includes(given as string)
      ? { ok: true, value: given as string }
      : { ok: false, rule: `must be one of ${schema.enum.join(', ')}` };
  }
  if (schema.type === 'integer') return readInteger(schema, given);
  if (schema.type === 'array') return readArray(key, schema, given);
  return readText(schema, given);
}

/** Longer than any address or path. */
const maxTextCharacters = 4_096;

const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/;

/** By format: whether a text has it, and the rule. */
const textFormats: Readonly<Record<string, readonly [test: (text: string) => boolean, rule: string]>> = {
  header: [(given) => /^[\x20-\x7e]*$/.test(given), 'must have characters of ASCII only, because a header carries it'],
  url: [isHttpUrl, 'must be an http or https URL'],
  timeOfDay: [(given) => timeOfDay.test(given), 'must be a time of the day as HH:mm'],
  timeZone: [(given) => timeZoneNamed(given) !== undefined, 'must be an IANA time zone, such as Europe/Berlin'],
};

function readText({ minLength = 0, format, default: fallback }: SettingSchema, given: unknown): Reading<string> {
  if (typeof given === 'number' || typeof given === 'boolean')
    return { ok: false, rule: 'must be a text; put it in quotation marks' };
  if (typeof given !== 'string' || given.length < minLength) return { ok: false, rule: 'must be a text' };
  if (given.length > maxTextCharacters) return { ok: false, rule: `must have at most ${maxTextCharacters} characters` };
  if (/\p{Cc}/u.test(given)) return { ok: false, rule: 'must have no line breaks and no other control characters' };
  const [test, rule] = textFormats[format ?? ''] ?? [];
  const isUnset = given === '' && fallback === '';
  return rule === undefined || isUnset || test?.(given) ? { ok: true, value: given } : { ok: false, rule };
}

function readArray(key: string, { format }: SettingSchema, given: unknown): Reading<string[]> {
  if (format === 'networks') return readNetworks(key, given);
  if (format === 'seconds') return readSeconds(given);
  if (format === 'bounds') return readBounds(given);
  return format === 'roles' ? readRoles(given) : readList(given);
}

function readInteger({ minimum, maximum }: SettingSchema, given: unknown): Reading<number> {
  const value = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given;
  const upper = maximum ?? Number.MAX_SAFE_INTEGER;
  const lower = minimum ?? 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= lower && value <= upper)
    return { ok: true, value };
  return {
    ok: false,
    rule: `must be a whole number, ${maximum === undefined ? `${lower} or more` : `${lower} to ${upper}`}`,
  };
}

function readList(given: unknown): Reading<string[]> {
  const list = typeof given === 'string' ? given.split(',').map((item) => item.trim()) : given;
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
    return { ok: false, rule: 'must be a list of texts (comma-separated in the environment)' };
  }
  return { ok: true, value: list.filter((item) => item !== '') };
}

function readRoles(given: unknown): Reading<string[]> {
  const list = readList(given);
  if (!list.ok) return list;
  const isRole = (name: string): boolean => (roles as readonly string[]).includes(name);
  return list.value.length > 0 && list.value.every(isRole)
    ? list
    : { ok: false, rule: `must be some of ${roles.join(', ')} (comma-separated in the environment)` };
}

/** Accepts numbers and texts of seconds, which may be fractions. */
function readSeconds(given: unknown): Reading<string[]> {
  const list = readList(Array.isArray(given) ? given.map(String) : given);
  return list.ok && list.value.length > 0 && list.value.every((item) => /^\d{1,7}(\.\d{1,3})?$/.test(item))
    ? list
    : { ok: false, rule: 'must be a list of seconds (comma-separated in the environment)' };
}

/** Accepts numbers and texts of degrees. */
function readBounds(given: unknown): Reading<string[]> {
  const list = readList(Array.isArray(given) ? given.map(String) : given);
  const isValid = list.ok && (list.value.length === 0 || isBounds(list.value.map(Number)));
  return isValid ? list : { ok: false, rule: 'must be west, south, east and north, in degrees' };
}

function readNetworks(key: string, given: unknown): Reading<string[]> {
  const list = readList(given);
  if (!list.ok) return list;
  const networks = parseNetworks(key, list.value);
  return networks.ok ? list : { ok: false, rule: networks.problem.rule };
}
