/**
 * Ending an HTTP server in order: every request that was sent before the end of the listener is answered, then its
 * connection is closed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Configuration } from './config/schema.js';

/**
 * A connection without a request is closed once it has been silent for so long: whoever sends more often gets an
 * answer, with the word to close.
 */
const silentMs = 1_000;

/**
 * Resolves when all connections are closed. In order: readiness is refused, so that load balancers send others
 * elsewhere, while all goes on; the listener ends; streams end, with the position to come back to; what arrives on open
 * connections is answered with `Connection: close`; silent ones are closed; what is left is cut.
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
  // It tells streams to end, and would wait for nothing else: the listener is closed already.
  const closed = app.close();
  const cut = await connections.drained({ silentMs, timeoutMs: http.drainTimeoutMs });
  if (cut > 0) logger.warn({ connections: cut, afterMs: http.drainTimeoutMs }, 'connections cut that were busy still');
  await closed;
}
