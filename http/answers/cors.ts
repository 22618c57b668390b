/**
 * Cross-origin calls from web pages. Only routes that pages call with a publishable key allow them. A secret key does
 * not belong in a page, and routes without a key, such as /metrics, are for operators.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathPattern } from './failures.js';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** The headers that SDKs send. They are listed by name because `*` does not cover Authorization. */
const knownHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'X-Radar-App-Info',
  'X-Radar-Config',
  'X-Radar-Device-Make',
  'X-Radar-Device-Model',
  'X-Radar-Device-OS',
  'X-Radar-Device-Type',
  'X-Radar-Mobile-Origin',
  'X-Radar-Network-Type',
  'X-Radar-Product',
  'X-Radar-SDK-Version',
  'X-Radar-X-Platform-SDK-Type',
  'X-Radar-X-Platform-SDK-Version',
  'X-Request-Id',
];

const exposedHeaders = [
  'X-Radar-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Idempotency-Replayed',
].join(', ');

const maxAgeS = 86_400;
const knownNames = new Set(knownHeaders.map((name) => name.toLowerCase()));
const headerName = /^[\w-]{1,100}$/;

/** Returns the known headers and those that the page's own code adds. */
function allowedHeaders(requested: string | undefined): string {
  const others = (requested ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => headerName.test(name) && !knownNames.has(name.toLowerCase()));
  return [...knownHeaders, ...others].join(', ');
}

/**
 * Lets pages of any origin call the routes for publishable keys: the key authorises, and no cookie is read. Unknown
 * paths count as such routes, because SDKs in pages call paths that do not exist here and must be able to read the 404.
 * Add it before every other hook, so that pages can read refusals.
 */
export function allowCrossOrigin(app: FastifyInstance): void {
  const routes: { readonly pattern: RegExp; readonly isForPages: boolean }[] = [];
  app.addHook('onRoute', ({ url, config }) => {
    routes.push({ pattern: pathPattern(url), isForPages: config?.authority === 'publishable' });
  });

  function isPathForPages(path: string): boolean {
    const matching = routes.filter(({ pattern }) => pattern.test(path));
    return matching.length === 0 || matching.some(({ isForPages }) => isForPages);
  }

  /** A preflight asks about a path; an answer belongs to one route of that path. */
  const isForPages = (request: FastifyRequest): boolean =>
    request.is404
      ? isPathForPages(request.url.split('?', 1)[0]!)
      : request.routeOptions.config.authority === 'publishable';

  const answerPreflight = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply
      .code(204)
      .header('Access-Control-Allow-Methods', methods)
      .header('Access-Control-Allow-Headers', allowedHeaders(request.headers['access-control-request-headers']))
      .header('Access-Control-Max-Age', maxAgeS)
      .send();

  app.addHook('onRequest', async (request, reply) => {
    if (!isForPages(request)) return;
    reply.header('Access-Control-Allow-Origin', '*').header('Access-Control-Expose-Headers', exposedHeaders);
    if (request.method === 'OPTIONS') await answerPreflight(request, reply);
  });
}
