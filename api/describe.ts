/** How routes describe themselves for /openapi.json, and how handlers turn what they read into answers. */
import type { FastifySchema } from 'fastify';
import Type, { type TProperties, type TSchema } from 'typebox';
import type { RawFields } from '../http/fields/reader.js';
import { isDictionary } from '../http/fields/values.js';
import { ApiError } from '../schemas/errors.js';
import { ErrorBody, Id, Meta } from '../schemas/json/common.js';

export interface Description {
  /** Unique; names the method in generated clients. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly body?: TSchema;
  /** Of the answer 200. */
  readonly answer: TSchema;
  /** Failures besides 401, 403 and 429, by status; 412 follows from `entityTag`. */
  readonly failures?: readonly (400 | 404 | 409 | 413 | 503)[];
  /** `answered`: the answer 200 carries ETag. `matched`: the route honours If-Match. */
  readonly entityTag?: 'answered' | 'matched' | 'matched and answered';
}

const failureNames = {
  400: 'A field is missing or breaks its rule',
  401: 'The key is missing, unknown or revoked',
  403: 'The key has too little authority',
  404: 'There is no such resource',
  409: 'The request contradicts a record that exists',
  412: 'The record is not at the revision that If-Match names',
  413: 'The body is too large',
  429: 'Too many requests; see Retry-After',
  503: 'More is in flight than can be kept, or a part is out of reach; see Retry-After',
} as const;

const etagHeader = Type.String({ description: 'Revision of what is answered; compare it for equality only' });

const ifMatchHeader = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'ETags of the revisions at which the record is edited; `*`: at any, if it exists. Otherwise the answer is 412',
    }),
  ),
});

/**
 * The schema object of a route. It describes only: handlers read the fields themselves, so that text and typed values
 * are one.
 */
export function described({ tag, answer, failures = [], entityTag, body, ...rest }: Description): FastifySchema {
  const isMatched = entityTag === 'matched' || entityTag === 'matched and answered';
  const isAnswered = entityTag === 'answered' || entityTag === 'matched and answered';
  const statuses = [...failures, ...(isMatched ? ([412] as const) : []), 401, 403, 429] as const;
  const headers = isAnswered && { headers: { ETag: etagHeader } };
  const refusals = statuses.map((status) => [status, { description: failureNames[status], ...ErrorBody }]);
  return {
    ...rest,
    ...(body && { body, consumes: ['application/json', 'application/x-www-form-urlencoded'] }),
    ...(isMatched && { headers: ifMatchHeader }),
    tags: [tag],
    response: { 200: { description: 'Success', ...answer, ...headers }, ...Object.fromEntries(refusals) },
  };
}

/** `{ meta: { code }, ...fields }`. */
export const answerOf = (fields: TProperties = {}): TSchema => Type.Object({ meta: Meta, ...fields });

/** `{ meta: { code, hasMore }, ...fields }`; `cursor` where the list has one. */
export const listOf = (fields: TProperties, options: { readonly cursor?: boolean } = {}): TSchema =>
  Type.Object({
    meta: Type.Object({
      code: Type.Integer(),
      hasMore: Type.Boolean(),
      ...(options.cursor && {
        cursor: Type.Optional(Type.String({ description: 'Asks for the next page; absent on the last' })),
      }),
    }),
    ...fields,
  });

export const idParameter = Type.Object({ id: Id });
export const pairParameters = Type.Object({
  tag: Type.String({ description: 'Percent-encoded' }),
  externalId: Type.String({ description: 'Percent-encoded' }),
});

export const success = { code: 200 } as const;

/** The resource, or 404. */
export function found<T>(resource: T | undefined, name: string): T {
  if (resource === undefined) throw new ApiError('not_found', `there is no such ${name}`);
  return resource;
}

/** The body's fields. No body at all counts as one without fields. */
export function bodyFields(body: unknown): RawFields {
  if (body === undefined || body === null) return {};
  if (!isDictionary(body)) throw new ApiError('invalid_body', 'the body must be an object of fields');
  return body;
}
