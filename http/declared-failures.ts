/** Derives the failures that a route may answer from its definition, for /openapi.json. */
import type { RouteOptions } from 'fastify';
import Type, { type TProperties, type TSchema } from 'typebox';
import { type ErrorCode, errorCatalogue } from '../schemas/errors.js';
import { ErrorBody } from '../schemas/json/common.js';
import { honoursIdempotencyKey } from './requests/idempotency.js';

const meanings = {
  400: 'A field is missing or breaks its rule',
  401: 'The key or session is missing, unknown, ended or revoked',
  403: 'The key or session has too little authority',
  404: 'There is no such resource',
  408: 'The body arrives too slowly',
  409: 'The request contradicts a record that exists, or another request',
  412: 'The record is not at the revision that If-Match names, or at one that If-None-Match names',
  413: 'The body is too large',
  415: 'The call does not read this Content-Type or Content-Encoding',
  422: 'The Idempotency-Key was used for another request',
  429: 'Too many requests',
  503: 'Too much is in flight, or a service is unavailable',
} as const;

/** A status of failures that /openapi.json describes. All others are under `default`. */
export type FailureStatus = keyof typeof meanings;

const retryAfter = {
  'Retry-After': Type.Integer({ description: 'Seconds to wait; absent where a wait does not help' }),
};
const statusesWithRetryAfter: readonly FailureStatus[] = [409, 429, 503];

const codesOf = (status: number): ErrorCode[] =>
  (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => errorCatalogue[code].status === status);

/** One schema per status, because schemas with a name must be the same object. */
const metas = new Map(
  (Object.keys(meanings).map(Number) as FailureStatus[]).map((status) => {
    const type = Type.Enum(codesOf(status), {
      description: 'Error code, see docs/errors.md; later releases may add one',
    });
    return [status, Type.Object({ ...ErrorBody.properties.meta.properties, type }, { $id: `Failure${status}` })];
  }),
);

/**
 * Returns the schema of the failures with a status, which lists their codes.
 * @param fields what such an answer has beside `meta`.
 */
export function failureAnswer(status: FailureStatus, fields: TProperties = {}): TSchema {
  return {
    description: meanings[status],
    ...Type.Object({ meta: metas.get(status)!, ...fields }),
    ...(statusesWithRetryAfter.includes(status) && { headers: retryAfter }),
  };
}

/** Returns the schemas of failures by their statuses. */
export const failureAnswers = (statuses: readonly FailureStatus[]): Record<number, TSchema> =>
  Object.fromEntries(statuses.map((status) => [status, failureAnswer(status)]));

const methodsWithBody = ['POST', 'PUT', 'PATCH'];

/** Returns the statuses that the server may answer before the handler of a route decides anything. */
export function derivedFailures({ method, config }: Pick<RouteOptions, 'method' | 'config'>): FailureStatus[] {
  const hasBody = [method].flat().some((name) => methodsWithBody.includes(name));
  return [
    400,
    503,
    ...(config?.authority === 'none' ? [] : ([401, 403, 429] as const)),
    ...(hasBody ? ([408, 413, 415] as const) : []),
    ...(honoursIdempotencyKey(method, config) ? ([409, 422] as const) : []),
  ];
}
