/** Starts a span for each request that needs a key, within the trace that its header `traceparent` names. */
import type { FastifyInstance } from 'fastify';
import { type Span, type Tracing, traceHeader } from '../../pipeline/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent if the request isn't recorded. */
    span?: Span;
  }
}

/** Records a span for each request. Call it before other hooks, so that the span begins with the request. */
export function traceRequests(app: FastifyInstance, tracing: Tracing | undefined): void {
  if (tracing === undefined) return;
  app.addHook('onRequest', async (request) => {
    const { url, config } = request.routeOptions;
    // Health, metrics, documentation and the files of the dashboard.
    if (url === undefined || config.authority === undefined || config.authority === 'none') return;
    const parent = request.headers[traceHeader];
    const span = tracing.request(`${request.method} ${url}`, {
      kind: 'server',
      parent: typeof parent === 'string' ? parent : undefined,
      attributes: { 'http.request.method': request.method, 'http.route': url, 'fenceline.request_id': request.id },
    });
    if (span) request.span = span;
  });
  app.addHook('onResponse', async ({ span }, { statusCode }) => {
    span?.end({ 'http.response.status_code': statusCode }, statusCode >= 500 ? `status ${statusCode}` : undefined);
  });
}
