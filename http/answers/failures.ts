/**
 * Answers every failure in the shape of the catalogue:
 * `{"meta":{"code":400,"type":"invalid_parameter","param":"latitude","message":"…","requestId":"…"}}`.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPortError, type PortError } from '../../pipeline/errors.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { failureBody, failureHeaders } from '../connections/raw-answers.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Shared by all plugins, so that the one with the pages can set it. */
    readonly missingPage: {
      /** Sends the page that tells a person that there is no such page, with status 404. */
      send: ((reply: FastifyReply) => FastifyReply) | undefined;
      /** Sends it if a person asks for a path beside the API; returns undefined otherwise. */
      sendToPerson(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
    };
  }
}

const noSuchPath = (): ApiError => new ApiError('not_found', 'there is no such path');

/** Returns the catalogued error for a refusal of Fastify; undefined for anything else. */
function refusal({ code, statusCode }: Partial<FastifyError>): ApiError | undefined {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ApiError('body_too_large', 'the body is larger than this endpoint accepts');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError(
      'unsupported_media_type',
      'the Content-Type is not one that this endpoint reads; that of JSON is application/json',
    );
  }
  if (code === 'FST_ERR_BAD_URL') return parameterError({ param: 'path', rule: 'must be percent-encoded UTF-8' });
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return noSuchPath();
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ApiError('invalid_body', 'the body cannot be read');
  }
  return undefined;
}

/** Returns the HTTP error for a port's error. Both use the same codes; the type checker compares them. */
const fromPort = ({ code, message, retryAfterS }: PortError): ApiError =>
  new ApiError(code, message, retryAfterS === undefined ? {} : { retryAfterS });

/**
 * Returns the catalogued error for anything that was thrown. An unexpected error is logged in full and answered without
 * its message.
 */
function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (isPortError(error)) return fromPort(error);
  const refused = refusal((error ?? {}) as Partial<FastifyError>);
  if (refused) return refused;
  request.log.error({ err: error, requestId: request.id }, 'unexpected failure of a request');
  return new ApiError('internal', `an unexpected error; the log has it under request ${request.id}`);
}

/** Answers the failure. `extra` is added beside `meta`. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  extra: object = {},
): FastifyReply {
  const failure = toApiError(error, request);
  // Fastify closes the connection when it refuses a body. The sender would not see the answer, so the rest of the body
  // is read and dropped within the bounds of connections.ts.
  if (!request.raw.complete && reply.raw.shouldKeepAlive && failure.code !== 'request_timeout')
    reply.removeHeader('connection');
  if (failure.retryAfterS !== undefined) reply.header('Retry-After', failure.retryAfterS);
  // The hooks that set them do not run for every failure.
  reply.headers({ 'X-Radar-Request-Id': request.id, ...failureHeaders });
  return reply.code(failure.status).send({ ...failureBody(failure, request.id), ...extra });
}

/** Returns a pattern for the paths of a route's URL. */
export const pathPattern = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replace(/:\w+/g, '[^/]+')}$`,
  );

/** Returns the path as it was sent. The target of a request to a proxy begins with the server (RFC 9112, 3.2.2). */
const pathOf = ({ url }: FastifyRequest): string => url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0]!;
const firstPart = (path: string): string => path.split('/', 2)[1] ?? '';

/** Answers a path that cannot be read, before any route and hook: with the page for a person, else with the failure. */
export function sendUnreadablePath(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The hooks that set them do not run.
  reply.headers({ 'X-Radar-Request-Id': request.id, ...failureHeaders });
  return request.server.missingPage.sendToPerson(request, reply) ?? sendFailure(error, request, reply);
}

/** Whether a person typed the address or followed a link. */
const isOfPerson = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');

/** Adds the handlers for errors, unknown paths, and known paths with another method. */
export function answerFailures(app: FastifyInstance): void {
  const methodsOf = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  const firstPartsOfApi = new Set<string>();
  const missingPage: FastifyInstance['missingPage'] = {
    send: undefined,
    sendToPerson(request, reply) {
      const isBesideApi = !firstPartsOfApi.has(firstPart(pathOf(request)));
      return isOfPerson(request) && isBesideApi ? missingPage.send?.(reply) : undefined;
    },
  };
  app.decorate('missingPage', missingPage);
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!config?.isQueryForPage) firstPartsOfApi.add(firstPart(url));
    const known = methodsOf.get(url) ?? { pattern: pathPattern(url), methods: new Set() };
    for (const name of [method].flat()) known.methods.add(name);
    methodsOf.set(url, known);
  });
  app.setErrorHandler((error, request, reply) => sendFailure(error, request, reply));
  /**
   * Whether the path has the names of its route as they are. The router also finds the route of /%6detrics and of
   * *metrics, which the rules of a proxy in front do not know.
   */
  const isAsWritten = ({ routeOptions: { url = '' } }: FastifyRequest, path: string): boolean =>
    /^\/[^%]*$/.test(path) || methodsOf.get(url)?.pattern.test(path) === true;

  // Before the body is read, which may be broken, too large or of another type.
  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request);
    if (!request.is404 && isAsWritten(request, path)) return undefined;
    const found = request.is404 ? [...methodsOf.values()].filter(({ pattern }) => pattern.test(path)) : [];
    const methods = found.flatMap((known) => [...known.methods]);
    if (methods.length === 0) {
      const page = app.missingPage.sendToPerson(request, reply);
      if (page) return page;
      throw noSuchPath();
    }
    reply.header('Allow', [...new Set(methods)].join(', '));
    throw new ApiError('method_not_allowed', `${request.method} is not a method of this path`);
  });
  // Fastify runs the hook for unknown paths only if there is a handler, which is never reached.
  app.setNotFoundHandler(() => {
    throw noSuchPath();
  });
}
