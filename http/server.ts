/**
 * What every HTTP room stands on: a Fastify server that knows keys, limits, cross-origin calls, and one shape of failure.
 *
 * Flows in: requests under /v1/… (and /api/v1/…, the same). Flows out: JSON, errors as in schemas/errors.ts, and the headers X-Radar-Request-Id and
 * X-RateLimit-*. Rooms add their routes as plugins; each route declares `config: { authority, limit }`. Imports schemas and pipeline types only.
 */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import { freshId } from '../schemas/ids.js';
import { type AuthorityOptions, requireAuthority } from './authority.js';
import { checkQueries, parseForm, readBodies } from './bodies.js';
import { allowCrossOrigin } from './cors.js';
import { answerFailures, sendFailure } from './failures.js';
import { protectAnswers } from './headers.js';
import { describeApi, type OpenApiOptions } from './openapi.js';
import { refuseUnknownParameters } from './query.js';
import { limitRates, type RateLimits } from './rate-limits.js';
import { observeRequests, type RequestObserver } from './requests.js';
import { validatorCompiler } from './validation.js';

export interface HttpServerOptions extends AuthorityOptions {
  /** A pino logger, made with {@link logRedaction}. */
  readonly logger: FastifyBaseLogger;
  readonly rateLimits: RateLimits;
  readonly openApi: OpenApiOptions;
  /** Which proxies' X-Forwarded-For is believed: Fastify's `trustProxy`. Default: none's. */
  readonly trustProxy?: Exclude<FastifyServerOptions['trustProxy'], undefined>;
  /** Of bodies whose route sets none of its own. */
  readonly bodyLimitBytes?: number;
  /** Epoch ms. */
  readonly clock?: () => number;
  /** Told of every answered request, for metrics. */
  readonly observe?: RequestObserver;
}

/** For pino's `redact`: keys never reach the log. */
export const logRedaction = {
  paths: ['authorization', 'publishableKey', '*.authorization', '*.publishableKey', '*.headers.authorization'],
  censor: '[redacted]',
};

const defaultBodyLimitBytes = 1_048_576;
/** Tags, external ids and device ids stand in paths, percent-encoded. */
const maxPathParameterCharacters = 2_048;
/** A connection on which nothing moves for so long is closed. Longer than the heartbeat of event streams. */
const idleConnectionMs = 120_000;

/** One set of routes serves both prefixes. */
const withoutApiPrefix = (url: string): string => (url.startsWith('/api/v1/') ? url.slice('/api'.length) : url);

/** A server without routes of its own but /openapi.json and /docs. Register rooms as plugins, then listen. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => freshId(),
    requestIdHeader: false,
    trustProxy: options.trustProxy ?? false,
    bodyLimit: options.bodyLimitBytes ?? defaultBodyLimitBytes,
    connectionTimeout: idleConnectionMs,
    // Who is connected already is served to the end; whatever can't be any more says so itself.
    return503OnClosing: false,
    rewriteUrl: (request) => withoutApiPrefix(request.url ?? '/'),
    routerOptions: { maxParamLength: maxPathParameterCharacters, querystringParser: parseForm },
    frameworkErrors: (error, request, reply) => {
      void sendFailure(error, request, reply);
    },
  });
  app.setValidatorCompiler(validatorCompiler);
  // Response schemas describe; they don't filter.
  app.setSerializerCompiler(() => JSON.stringify);
  readBodies(app);
  // Order matters: a refusal must carry the request id and be readable by web pages.
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Radar-Request-Id', request.id);
  });
  protectAnswers(app);
  allowCrossOrigin(app);
  requireAuthority(app, options);
  limitRates(app, options.rateLimits, options.clock ?? Date.now);
  checkQueries(app);
  refuseUnknownParameters(app);
  answerFailures(app);
  observeRequests(app, options.observe);
  describeApi(app, options.openApi);
  return app;
}
