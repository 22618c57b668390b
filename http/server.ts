/**
 * The HTTP server that all modules with routes share: a Fastify server with keys, limits, cross-origin calls and one
 * shape of failure.
 *
 * Input: requests under /v1/… and, as an alias, /api/v1/…. Output: JSON, errors as in schemas/errors.ts, and the
 * headers X-Radar-Request-Id and X-RateLimit-*. Modules add their routes as plugins; each route declares `config: {
 * authority, limit }`.
 */
import type { IncomingMessage } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Tracing } from '../pipeline/tracing.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import { type AuthorityOptions, requireAuthority } from './access/authority.js';
import { limitRates, type RateLimits } from './access/rate-limits.js';
import { observeRequests, type RequestObserver } from './answers/access-log.js';
import { allowCrossOrigin } from './answers/cors.js';
import { answerFailures, sendUnreadablePath } from './answers/failures.js';
import { correctAnswersToHead, protectAnswers } from './answers/headers.js';
import { traceRequests } from './answers/traces.js';
import { boundUnsentAnswers } from './answers/unsent.js';
import {
  type ConnectionBounds,
  type ConnectionSettings,
  fixedConnectionBounds,
  watchConnections,
} from './connections/connections.js';
import { failureOfParsing, maxHeaderBytes, rawAnswer } from './connections/raw-answers.js';
import { forwardedWithoutPorts } from './location/address.js';
import { describeApi, type OpenApiOptions } from './openapi.js';
import { checkQueries, parseForm, readBodies } from './requests/bodies.js';
import { boundBufferedBodies } from './requests/buffered-bodies.js';
import { type IdempotencyParts, keepAnswers } from './requests/idempotency.js';
import { refuseEmptyParameters } from './requests/path.js';
import { refuseUnknownParameters } from './requests/query.js';
import { requestIdOf } from './requests/request-id.js';

/** What the HTTP server of a node works with. */
export interface HttpServerOptions extends AuthorityOptions {
  /** A pino logger, made with `logRedaction`. */
  readonly logger: FastifyBaseLogger;
  readonly rateLimits: RateLimits;
  readonly openApi: OpenApiOptions;
  /** The proxies whose X-Forwarded-For is trusted: Fastify's `trustProxy`. Default: none. */
  readonly trustProxy?: Exclude<FastifyServerOptions['trustProxy'], undefined>;
  /** Limit of bodies for routes that set none. */
  readonly bodyLimitBytes: number;
  readonly connections: ConnectionSettings & Partial<ConnectionBounds>;
  /** Bytes of bodies that arrive or wait for their answer. */
  readonly maxBufferedBodyBytes: number;
  /** Bytes of answers that wait for their readers. */
  readonly maxUnsentBytes: number;
  /** Absent: the header Idempotency-Key is ignored. */
  readonly idempotency?: IdempotencyParts;
  /** Epoch ms. */
  readonly clock?: () => number;
  /** Called with every answered request, for metrics. */
  readonly observe?: RequestObserver;
  /** Absent: no request has a span. */
  readonly tracing?: Tracing | undefined;
}

/** Paths contain percent-encoded tags, external ids and device ids. */
const maxPathParameterCharacters = 2_048;
/** A connection is closed after this time without traffic. Longer than the heartbeat of event streams. */
const idleConnectionMs = 120_000;
const headersChecksPerTimeout = 10;

/** Must come before all that asks for the address of the client: with a port, each connection has another one. */
function removeForwardedPorts(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = forwardedWithoutPorts(forwarded);
  });
}

/** Answers requests that Node would answer in another shape or not at all. */
function answerOddRequests(app: FastifyInstance): void {
  const unexpected = new WeakSet<IncomingMessage>();
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => {});
    socket.end(rawAnswer(new ApiError('method_not_allowed', 'this server does not support the method CONNECT')));
  });
  app.server.on('checkExpectation', (request, response) => {
    // Its sender may wait before it sends the body.
    response.shouldKeepAlive = false;
    unexpected.add(request);
    // As any request, it waits for the answers before it.
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', async ({ raw, headers }) => {
    if (unexpected.has(raw)) throw new ApiError('malformed_request', 'Expect: only 100-continue is supported');
    if (raw.httpVersion === '1.1' && headers.host === undefined) {
      throw new ApiError('malformed_request', 'the Host header is missing');
    }
  });
}

/**
 * Removes the prefix /api: the same routes serve both prefixes. An app that ends the host of its SDK with a slash sends
 * two. Paths that SDKs do not call have one, so that the rules of a proxy in front hold.
 */
const routedUrl = (url: string): string => url.replace(/^\/+(?:api\/(?=v1\/)|(?=v1\/|maps\/))/, '/');

/** Creates a server with no routes but /openapi.json and /docs. Register modules as plugins, then listen. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const bounds = { ...fixedConnectionBounds, ...options.connections };
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: options.trustProxy ?? false,
    bodyLimit: options.bodyLimitBytes,
    connectionTimeout: idleConnectionMs,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: bounds.headersTimeoutMs,
      connectionsCheckingInterval: bounds.headersTimeoutMs / headersChecksPerTimeout,
      // The hook below requires the header and answers in the API's shape.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => {
      const failure = failureOfParsing(error);
      if (failure === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy();
      else {
        const requestId = freshId();
        app.log.debug({ reqId: requestId, type: failure.code }, 'refused malformed HTTP');
        app.connections.refuse(socket, failure, requestId);
      }
    },
    // Connected clients are served until the end. A route that can no longer answer reports it itself.
    return503OnClosing: false,
    rewriteUrl: (request) => routedUrl(request.url ?? '/'),
    routerOptions: { maxParamLength: maxPathParameterCharacters, querystringParser: parseForm },
    frameworkErrors: (error, request, reply) => {
      void sendUnreadablePath(error, request, reply);
    },
  });
  // The size limits the headers. A limit of their number would leave the last ones out without notice.
  app.server.maxHeadersCount = 0;
  app.decorate('connections', watchConnections(app, bounds));
  // Schemas only describe. Handlers read the fields, so that JSON, forms and query strings follow the same rules.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => JSON.stringify);
  readBodies(app);
  traceRequests(app, options.tracing);
  if (options.trustProxy) removeForwardedPorts(app);
  // Order matters: a refusal must have the request id and be readable by web pages.
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Radar-Request-Id', request.id);
  });
  protectAnswers(app);
  correctAnswersToHead(app);
  allowCrossOrigin(app);
  answerOddRequests(app);
  requireAuthority(app, options);
  limitRates(app, options.rateLimits, options.clock ?? Date.now);
  boundUnsentAnswers(app, options.maxUnsentBytes);
  boundBufferedBodies(app, options.maxBufferedBodyBytes);
  checkQueries(app);
  if (options.idempotency) keepAnswers(app, options.idempotency);
  refuseEmptyParameters(app);
  refuseUnknownParameters(app);
  answerFailures(app);
  observeRequests(app, options.observe);
  describeApi(app, options.openApi);
  return app;
}
