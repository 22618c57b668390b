/** The configuration schema as a flat list of settings, with their environment variables, and the reading of values. */
import { parseNetworks } from '../../outbound/addresses.js';
import { configurationSchema, roles, type SettingSchema, type SettingValue } from './schema.js';

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
  if (schema.type === 'array') {
    if (schema.format === 'networks') return readNetworks(key, given);
    if (schema.format === 'seconds') return readSeconds(given);
    return schema.format === 'roles' ? readRoles(given) : readList(given);
  }
  const isText = typeof given === 'string' && given.length >= (schema.minLength ?? 0);
  return isText ? { ok: true, value: given } : { ok: false, rule: 'must be a text' };
}

function readInteger({ minimum, maximum }: SettingSchema, given: unknown): Reading<number> {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
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

function readNetworks(key: string, given: unknown): Reading<string[]> {
  const list = readList(given);
  if (!list.ok) return list;
  const networks = parseNetworks(key, list.value);
  return networks.ok ? list : { ok: false, rule: networks.problem.rule };
}
