/** Writes one log line and one metric observation per answered request. */
import type { FastifyInstance } from 'fastify';

export interface RequestObservation {
  readonly method: string;
  /** The pattern of the route, such as /v1/geofences/:id; `unknown` for paths that do not exist. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export type RequestObserver = (observation: RequestObservation) => void;

export function observeRequests(app: FastifyInstance, observe: RequestObserver | undefined): void {
  app.addHook('onResponse', async (request, reply) => {
    const observation = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
    };
    observe?.(observation);
    request.log.debug({ ...observation, key: request.caller?.keyHint }, 'request');
  });
}
