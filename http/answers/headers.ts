/** Headers that keep answers out of caches, stop browsers from guessing content types, and say lengths. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, onSendAsyncHookHandler } from 'fastify';

/** Swagger UI loads its own files and /openapi.json, and styles its elements inline. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of server-sent events. Proxies such as nginx must pass each message on at once. */
const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

/**
 * Answers with the stream of server-sent events that `open` returns. A HEAD request gets the headers, and nothing is
 * opened: a stream would never end, and would count among those of the caller.
 */
export async function sendEventStream(
  reply: FastifyReply,
  open: () => Promise<Readable> | Readable,
): Promise<FastifyReply> {
  const output = reply.request.method === 'HEAD' ? Readable.from([]) : await open();
  return reply.headers(eventStreamHeaders).send(output);
}

/**
 * Adds `nosniff` to every answer, and `no-store` to every answer that required a key. A route that allows caching sets
 * Cache-Control itself; its failures keep `no-store`.
 */
export function protectAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff');
    if (request.routeOptions.config.authority !== 'none') reply.header('Cache-Control', 'no-store');
  });
}

/** Ends the stream of an answer unread, and answers with an empty one in its place. Fastify would read all of it. */
const leaveStreamUnread: onSendAsyncHookHandler = async (_request, _reply, payload) => {
  if (!(payload instanceof Readable)) return payload;
  payload.on('error', () => {}).destroy();
  return Readable.from([]);
};

/**
 * Leaves the length out of an answer 304. Fastify says 0, the length of what it sends. A client may take it as that of
 * the representation which it keeps (RFC 9110, 8.6).
 */
const leaveOutLengthOf304: onSendAsyncHookHandler = async (_request, reply, payload) => {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  return payload;
};

/** Gives answers to HEAD the right length, and makes nothing that they do not send. */
export function correctAnswersToHead(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    // Fastify's own hook, which sets the length and reads streams, is the last one of the route.
    if (route.method === 'HEAD') route.onSend = [leaveStreamUnread, route.onSend ?? [], leaveOutLengthOf304].flat();
  });
}

/** Stops other sites from framing the plugin's pages and from running scripts in them. */
export function protectPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply
      .header('Content-Security-Policy', pagePolicy)
      .header('X-Frame-Options', 'DENY')
      .header('Referrer-Policy', 'no-referrer');
  });
}
