/** Cross-origin calls from web pages: answered for every path, since SDKs send headers that make browsers ask first. */
import type { FastifyInstance } from 'fastify';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Headers that SDKs send. Named one by one, for `*` doesn't cover Authorization. */
const knownHeaders = [
  'Authorization',
  'Content-Type',
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
];

const exposedHeaders = [
  'X-Radar-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
].join(', ');

const maxAgeS = 86_400;
const isKnown = new Set(knownHeaders.map((name) => name.toLowerCase()));
const headerName = /^[\w-]{1,100}$/;

/** The known headers, and whatever else the page's own code adds to its requests. */
function allowedHeaders(requested: string | undefined): string {
  const others = (requested ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => headerName.test(name) && !isKnown.has(name.toLowerCase()));
  return [...knownHeaders, ...others].join(', ');
}

/** Any origin may call, for a key authorises and no cookie is ever read. Comes before every other hook, so that refusals can be read too. */
export function allowCrossOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('Access-Control-Allow-Origin', '*').header('Access-Control-Expose-Headers', exposedHeaders);
    if (request.method !== 'OPTIONS') return;
    await reply
      .code(204)
      .header('Access-Control-Allow-Methods', methods)
      .header('Access-Control-Allow-Headers', allowedHeaders(request.headers['access-control-request-headers']))
      .header('Access-Control-Max-Age', maxAgeS)
      .send();
  });
}
