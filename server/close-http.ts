/**
 * Stops an HTTP server gracefully: every request that was sent before the listener closed is answered, then its
 * connection is closed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Configuration } from './config/schema.js';

/**
 * Idle time after which a connection is closed. A client that sends requests more often gets an answer with
 * `Connection: close`.
 */
const silentMs = 1_000;

/**
 * Resolves when all connections are closed. The steps:
 *
 * 1. Readiness fails, so that load balancers stop sending requests. Everything else continues.
 * 2. The listener closes, and streams end with the position to resume from.
 * 3. Requests on open connections are answered with `Connection: close`, and idle connections are closed.
 * 4. Connections that are still open after the time limit are cut off.
 */
export async function closeHttp(
  app: FastifyInstance,
  { http }: Pick<Configuration, 'http'>,
  logger: Logger,
): Promise<void> {
  const { connections } = app;
  connections.isStopping = true;
  await delay(http.readinessDelayMs);
  await connections.stopAccepting();
  // Ends the streams. The listener is closed already.
  const closed = app.close();
  const cut = await connections.drained({ silentMs, timeoutMs: http.drainTimeoutMs });
  if (cut > 0)
    logger.warn({ connections: cut, afterMs: http.drainTimeoutMs }, 'cut off connections that were still busy');
  await closed;
}
