/** The configuration schema as a flat list of knobs, with the environment variable of each. */
import type { TSchema } from 'typebox';
import { parseNetworks } from '../../outbound/addresses.js';
import { ConfigurationSchema } from './schema.js';

export interface Knob {
  /** Dotted key, as `ingest.replyTimeoutMs`. */
  readonly key: string;
  /** As `FENCELINE_INGEST_REPLY_TIMEOUT_MS`. */
  readonly variable: string;
  readonly schema: KnobSchema;
}

export interface KnobSchema {
  readonly type?: 'string' | 'integer' | 'array';
  /** Of a list: addresses and CIDR blocks. */
  readonly format?: 'networks';
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default: KnobValue;
  readonly description: string;
}

export type KnobValue = string | number | string[];

const variableOf = (key: string): string =>
  `FENCELINE_${key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`;

function flatten(schema: TSchema, prefix: string): Knob[] {
  const properties = (schema as { properties?: Record<string, TSchema> }).properties;
  if (!properties) return [{ key: prefix, variable: variableOf(prefix), schema: schema as unknown as KnobSchema }];
  return Object.entries(properties).flatMap(([name, child]) => flatten(child, prefix ? `${prefix}.${name}` : name));
}

export const knobs: readonly Knob[] = flatten(ConfigurationSchema, '');

type Reading<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly rule: string };

/** The value that a knob takes from text or from a file, or the rule it breaks. */
export function readKnob({ key, schema }: Knob, given: unknown): Reading<KnobValue> {
  if (schema.enum) {
    return schema.enum.includes(given as string)
      ? { ok: true, value: given as string }
      : { ok: false, rule: `must be one of ${schema.enum.join(', ')}` };
  }
  if (schema.type === 'integer') return readInteger(schema, given);
  if (schema.type === 'array') return schema.format === 'networks' ? readNetworks(key, given) : readList(given);
  return typeof given === 'string' && given !== '' ? { ok: true, value: given } : { ok: false, rule: 'must be a text' };
}

function readInteger({ minimum, maximum }: KnobSchema, given: unknown): Reading<number> {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  const upper = maximum ?? Number.MAX_SAFE_INTEGER;
  const lower = minimum ?? 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= lower && value <= upper) return { ok: true, value };
  return { ok: false, rule: `must be a whole number, ${maximum === undefined ? `${lower} or more` : `${lower} to ${upper}`}` };
}

function readList(given: unknown): Reading<string[]> {
  const list = typeof given === 'string' ? given.split(',').map((item) => item.trim()) : given;
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
    return { ok: false, rule: 'must be a list of texts (comma-separated in the environment)' };
  }
  return { ok: true, value: list.filter((item) => item !== '') };
}

function readNetworks(key: string, given: unknown): Reading<string[]> {
  const list = readList(given);
  if (!list.ok) return list;
  const networks = parseNetworks(key, list.value);
  return networks.ok ? list : { ok: false, rule: networks.problem.rule };
}
