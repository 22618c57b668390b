/** Helpers with which routes describe themselves for /openapi.json, and with which handlers answer. */
import type { FastifySchema } from 'fastify';
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { ApiError, parameterError } from '../schemas/errors.js';
import { isId } from '../schemas/ids.js';
import { Id, Meta } from '../schemas/json/common.js';
import { failureAnswers } from './declared-failures.js';
import { accepted, FieldReader, type RawFields } from './fields/reader.js';
import { firstUnknown } from './fields/table.js';
import { isDictionary } from './fields/values.js';

/** Returns a text with a capital, as in names of operations. */
export const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

interface Description {
  /** Unique. Generated clients use it as the name of the method. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly body?: TSchema;
  /** The schema of the answer of success. */
  readonly answer: TSchema;
  /** Of the answer of success; default 200. */
  readonly status?: 200 | 202;
  /** Failures that the handler decides. 412 follows from `entityTag`, and others from the route: `derivedFailures`. */
  readonly failures?: readonly (404 | 409)[];
  /** `answered`: the answer 200 carries ETag. `matched`: the route honours If-Match and If-None-Match. */
  readonly entityTag?: 'answered' | 'matched' | 'matched and answered';
}

const etagHeader = Type.String({ description: 'Revision of the record; compare it for equality only' });

const preconditions = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'ETags of the revisions that may be edited; `*`: any revision that exists. Otherwise the answer is 412',
    }),
  ),
  'If-None-Match': Type.Optional(
    Type.String({ description: '`*`: only if there is no such record yet. Otherwise the answer is 412' }),
  ),
});

/**
 * Returns the schema of a route. It only describes: handlers read the fields themselves, so that text and typed values
 * follow the same rules.
 */
export function described({
  tag,
  answer,
  status = 200,
  failures = [],
  entityTag,
  body,
  ...rest
}: Description): FastifySchema {
  const isMatched = entityTag === 'matched' || entityTag === 'matched and answered';
  const isAnswered = entityTag === 'answered' || entityTag === 'matched and answered';
  const headers = isAnswered && { headers: { ETag: etagHeader } };
  const refusals = failureAnswers([...failures, ...(isMatched ? ([412] as const) : [])]);
  return {
    ...rest,
    ...(body && { body }),
    ...(isMatched && { headers: preconditions }),
    tags: [tag],
    response: { [status]: { description: 'Success', ...answer, ...headers }, ...refusals },
  };
}

/** Returns the schema of an answer: `{ meta: { code }, ...fields }`. */
export const answerOf = (fields: TProperties = {}): TSchema => Type.Object({ meta: Meta, ...fields });

/** Returns the schema of a list: `{ meta: { code, hasMore }, ...fields }`, with `cursor` where the list has one. */
export const listOf = (fields: TProperties, options: { readonly cursor?: boolean } = {}): TSchema =>
  Type.Object({
    meta: Type.Object({
      code: Type.Integer(),
      hasMore: Type.Boolean(),
      ...(options.cursor && {
        cursor: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last page' })),
      }),
    }),
    ...fields,
  });

/**
 * Returns the schema of a body or an answer that need not be JSON, from a schema for each media type. OpenAPI has this
 * map in the place of a schema.
 */
export function contentOf(schemas: Readonly<Record<string, TSchema>>, description?: string): TSchema {
  const content = Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));
  return { ...(description && { description }), content } as unknown as TSchema;
}

/** The parameter of routes that name a record by id. */
export const idParameter = Type.Object({ id: Id });
/** The type of a route whose path names {@link idParameter}. */
export type ById = { Params: { id: string } };

/** Throws `invalid_parameter` unless the path names an event by what can be its id. */
export function requireEventId({ id }: ById['Params']): void {
  if (!isId(id)) throw parameterError({ param: 'id', rule: 'must be the _id of an event, 24 hex digits' });
}

/** The parameters of routes that name a record by tag and external id. */
export const pairParameters = Type.Object({
  tag: Type.String({ description: 'Percent-encoded' }),
  externalId: Type.String({ description: 'Percent-encoded' }),
});

/** The `meta` of an answer that has nothing else to say. */
export const success = { code: 200 } as const;

/** Returns the resource, or throws 404. */
export function found<T>(resource: T | undefined, name: string): T {
  if (resource === undefined) throw new ApiError('not_found', `there is no such ${name}`);
  return resource;
}

/** Returns the fields of the body. No body counts as one without fields. */
export function bodyFields(body: unknown): RawFields {
  if (body === undefined || body === null) return {};
  if (!isDictionary(body)) throw new ApiError('invalid_body', 'the body must be an object of fields');
  return body;
}

/**
 * Returns the fields of a body that has no others than its schema. Throws `invalid_parameter` for others: an option
 * that is ignored would change records without notice.
 */
export function describedFields(body: unknown, { properties }: Pick<TObject, 'properties'>): RawFields {
  const fields = bodyFields(body);
  const known = Object.keys(properties);
  const problem = firstUnknown(
    fields,
    (name) => known.includes(name),
    () => known,
  );
  if (problem !== undefined) throw parameterError(problem);
  return fields;
}

/**
 * Returns the list of records of a body that has no other fields than its schema. It may be JSON text, as in a form.
 * Throws `invalid_parameter` for other fields, or if there is no list.
 */
export function describedRecords(body: unknown, schema: Pick<TObject, 'properties'>, name: string): readonly unknown[] {
  const reader = new FieldReader(describedFields(body, schema));
  const records = reader.structure(name);
  if (!Array.isArray(records)) reader.refuse(name, `must be a list of ${name}`);
  return accepted(reader.outcome(() => records as unknown[]));
}
