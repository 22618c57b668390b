/**
 * Validates queries, paths and bodies by TypeBox schemas, and says in plain words which field breaks which rule.
 *
 * Flows in: a schema and a value as it came. Flows out: the value in the schema's types, or the first problem, as
 * `{ param: 'latitude', rule: 'must be a number from -90 to 90' }`.
 */
import type { FastifySchemaCompiler } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type FieldProblem, invalid, parameterError, type Validated } from '../../schemas/errors.js';
import { coerce, type JsonSchema } from './coercion.js';

export type Validate<T> = (value: unknown) => Validated<T>;

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

function range(minimum: number | undefined, maximum: number | undefined, unit = ''): string {
  if (minimum !== undefined && maximum !== undefined) {
    return minimum === maximum ? `exactly ${minimum}${unit}` : `from ${minimum} to ${maximum}${unit}`;
  }
  if (minimum !== undefined) return `of at least ${minimum}${unit}`;
  return maximum === undefined ? '' : `of at most ${maximum}${unit}`;
}

const numberPhrase = (schema: JsonSchema): string =>
  `${schema.type === 'integer' ? 'a whole number' : 'a number'} ${range(schema.minimum, schema.maximum)}`.trim();

function stringPhrase(schema: JsonSchema): string {
  if (schema.pattern || schema.format) return schema.description ?? 'in another form';
  if (schema.minLength === 1 && schema.maxLength === undefined) return 'text that is not empty';
  return `text ${range(schema.minLength, schema.maxLength, ' characters')}`.trim();
}

/** What a value must be, to read on after "must be". */
function phrase(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map(phrase).join(' or ');
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case 'number':
    case 'integer':
      return numberPhrase(schema);
    case 'string':
      return stringPhrase(schema);
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list ${range(schema.minItems, schema.maxItems, ' items')}`.trim();
    case 'null':
      return 'null';
    default:
      return 'an object';
  }
}

/** The schema of the value at a path, as far as it can be followed without guessing between alternatives. */
function schemaAt(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const [step, ...rest] = path;
  if (step === undefined) return schema;
  const { items } = schema;
  const next =
    schema.properties?.[step] ??
    (Array.isArray(items) ? items[Number(step)] : (items as JsonSchema | undefined)) ??
    Object.values(schema.patternProperties ?? {})[0];
  return next === undefined ? schema : schemaAt(next, rest);
}

const paramName = (path: readonly string[]): string =>
  path.map((step, index) => (index === 0 ? step : /^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('') || 'body';

function problemOf(schema: JsonSchema, error: SchemaError): FieldProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (error.keyword === 'required') {
    const [missing = ''] = (error.params as { requiredProperties: string[] }).requiredProperties;
    return { param: paramName([...path, missing]), rule: 'is required' };
  }
  return { param: paramName(path), rule: `must be ${phrase(schemaAt(schema, path))}` };
}

/**
 * Compiles a schema once; the validator coerces (see coercion.ts), leaves unknown keys out, and refuses numbers that
 * aren't finite.
 */
export function createValidator<Schema extends TSchema>(schema: Schema): Validate<Static<Schema>> {
  const compiled = Compile(schema);
  const jsonSchema = schema as JsonSchema;
  return (value) => {
    const coerced = coerce(jsonSchema, value ?? {});
    if (compiled.Check(coerced)) return { ok: true, value: coerced as Static<Schema> };
    const [error] = compiled.Errors(coerced);
    if (error === undefined) return invalid('body', 'must be valid');
    const problem = problemOf(jsonSchema, error);
    return invalid(problem.param, problem.rule);
  };
}

/** Fastify's compiler for query strings, paths and bodies. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const validate = createValidator(schema);
  return (value) => {
    const result = validate(value);
    return result.ok ? { value: result.value } : { error: parameterError(result.problem) };
  };
};

/** The value, or an answer of 400: for handlers. */
export function accepted<T>(result: Validated<T>): T {
  if (!result.ok) throw parameterError(result.problem);
  return result.value;
}

/** For routes that read their bodies by rules of their own: the schema describes them and checks nothing. */
export const describeOnly: FastifySchemaCompiler<TSchema> = () => (value) => ({ value });
