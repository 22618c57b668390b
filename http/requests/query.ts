/**
 * Refuses query parameters that a route does not know, because a misspelt filter would return everything without
 * notice.
 *
 * Input: the schema `querystring` of each route, and {@link sdkParameters}. Output: an error that names the
 * parameter and the nearest known one. A parameter with one value is refused when it is repeated, because any choice
 * would be a guess.
 */
import type { FastifyInstance } from 'fastify';
import { type FieldProblem, parameterError } from '../../schemas/errors.js';
import { shownName, suggestion } from '../fields/spelling.js';
import { parseForm } from './bodies.js';
import { sdkParameters } from './sdk-parameters.js';
import { withRestoredText } from './unescaped-text.js';

/** The part of JSON Schema that tells a parameter with one value. */
interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

interface KnownParameters {
  readonly declared: Readonly<Record<string, JsonSchema>>;
  readonly ignored: Readonly<Record<string, string>>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Derived from the schema at registration. */
    knownParameters?: KnownParameters;
    /** The parameters of the route are read by a page, not by the server. */
    isQueryForPage?: boolean;
    /** The parameter whose text SDKs write without escaping its `&`. */
    unescapedText?: string;
    /** SDKs write a parameter that the app has not set as `null`. It counts as not given, unless it may be text. */
    isNullUnset?: boolean;
  }
}

const choicesOfSessions = { project: { type: 'string' }, environment: { type: 'string' } };
const singleTypes = new Set(['string', 'number', 'integer', 'boolean']);
const isSingle = (schema: JsonSchema): boolean => schema.enum !== undefined || singleTypes.has(schema.type ?? '');

/** Returns the first problem of a parsed query. */
export function queryProblem(query: object, { declared, ignored }: KnownParameters): FieldProblem | undefined {
  for (const [name, value] of Object.entries(query)) {
    if (Object.hasOwn(ignored, name)) continue;
    const schema = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (schema === undefined) {
      const rule = `is not a parameter of this call; ${suggestion(name, Object.keys(declared))}`;
      return { param: shownName(name), rule };
    }
    if (isSingle(schema) && typeof value !== 'string')
      return { param: name, rule: 'must be given once, and have one value' };
  }
  return undefined;
}

const mayBeText = (schema: JsonSchema | undefined): boolean => schema?.type === 'string' && schema.enum === undefined;

/** Returns the query without the parameters that are `null` and can't have this text as their value. */
const withoutNulls = (query: object, declared: KnownParameters['declared']): object =>
  Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== 'null' || mayBeText(declared[name])));

/** Adds the hooks to the root instance. Call it after the authority check and before routes are added. */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.isQueryForPage) return;
    const { properties } = (route.schema?.querystring ?? {}) as JsonSchema;
    const declared = { ...properties, ...(route.config?.keyInQuery && { publishableKey: { type: 'string' } }) };
    route.config = { ...route.config, knownParameters: { declared, ignored: sdkParameters[route.url] ?? {} } };
  });
  app.addHook('onRequest', async (request) => {
    const { knownParameters, unescapedText, isNullUnset } = request.routeOptions.config;
    if (request.is404 || knownParameters === undefined) return;
    if (unescapedText !== undefined) {
      const [, queryString = ''] = request.url.split(/\?(.*)/s);
      request.query = parseForm(withRestoredText(queryString, unescapedText));
    }
    const { declared, ignored } = knownParameters;
    // A session chooses project and environment; a key has its own.
    const known = request.session === null ? declared : { ...choicesOfSessions, ...declared };
    const problem = queryProblem(request.query as object, { declared: known, ignored });
    if (problem) throw parameterError(problem);
    if (isNullUnset) request.query = withoutNulls(request.query as object, declared);
  });
}
