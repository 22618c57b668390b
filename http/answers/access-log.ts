/** Writes one log line and one metric observation per answered request. */
import type { FastifyInstance } from 'fastify';

/** An answered request. `durationMs` ends when the answer is sent. */
export interface RequestObservation {
  readonly method: string;
  /** The pattern of the route, such as /v1/geofences/:id; `unknown` for paths that do not exist. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Receives each answered request. */
export type RequestObserver = (observation: RequestObservation) => void;

/** Reports each answered request to the observer and, at level debug, to the log. */
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
