/**
 * From the texts of query strings and form bodies to the types that a schema asks for.
 *
 * A text of a number or boolean becomes one where the schema wants it; empty text counts as absent; null counts as
 * absent where the field is optional and doesn't allow null; keys that the schema doesn't know are left out; of a
 * scalar given several times the last counts. What doesn't fit is passed on as it came, for the schema to refuse.
 */

/** The part of JSON Schema that our TypeBox schemas use. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNull = (schema: JsonSchema): boolean => schema.type === 'null';

/** A decimal number as people and SDKs write it; no hexadecimal, no Infinity. */
const numberText = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

function coerceNumber(value: unknown): unknown {
  return typeof value === 'string' && numberText.test(value) ? Number(value) : value;
}

function coerceBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

/** Of `tag=a&tag=b` the parser makes a list; where one text is wanted the last one counts. */
const lastOfRepeated = (value: unknown): unknown =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string') ? value.at(-1) : value;

function coerceObject(schema: JsonSchema, value: unknown): unknown {
  if (!isFields(value)) return value;
  const result: Fields = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const coerced = Object.hasOwn(value, name) ? coerce(field, value[name]) : undefined;
    if (coerced !== undefined) result[name] = coerced;
  }
  for (const field of Object.values(schema.patternProperties ?? {})) {
    for (const [name, item] of Object.entries(value)) result[name] = coerce(field, item) ?? item;
  }
  return result;
}

function coerceArray(schema: JsonSchema, value: unknown): unknown {
  if (!Array.isArray(value) || schema.items === undefined) return value;
  const { items } = schema;
  return value.map((item, index) => {
    const itemSchema = Array.isArray(items) ? items[index] : items;
    return itemSchema === undefined ? item : (coerce(itemSchema, item) ?? item);
  });
}

/** Only "this or null" is looked into: between several types a text stays a text. */
function coerceUnion(branches: readonly JsonSchema[], value: unknown): unknown {
  if (value === null && branches.some(isNull)) return null;
  const others = branches.filter((branch) => !isNull(branch));
  return others.length === 1 ? coerce(others[0]!, value) : (value ?? undefined);
}

/** The value in the schema's types; undefined: absent. */
export function coerce(schema: JsonSchema, value: unknown): unknown {
  if (value === '') return undefined;
  if (schema.anyOf) return coerceUnion(schema.anyOf, value);
  if (value === null) return isNull(schema) ? null : undefined;
  switch (schema.type) {
    case 'number':
    case 'integer':
      return coerceNumber(lastOfRepeated(value));
    case 'boolean':
      return coerceBoolean(lastOfRepeated(value));
    case 'object':
      return coerceObject(schema, value);
    case 'array':
      return coerceArray(schema, value);
    default:
      return schema.type === 'string' || schema.enum ? lastOfRepeated(value) : value;
  }
}
