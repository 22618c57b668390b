/** Ending an HTTP server in order: no new requests, those in hand are answered, then every connection is closed. */
import type { FastifyInstance } from 'fastify';

/** An upload that takes longer is cut; what of it was acknowledged stays. */
const maxWaitMs = 10_000;
const checkEveryMs = 25;

/** Counts the requests in hand, from now on. */
export function countRequests({ server }: FastifyInstance): () => number {
  let inHand = 0;
  server.on('request', (_, response) => {
    inHand += 1;
    response.once('close', () => {
      inHand -= 1;
    });
  });
  return () => inHand;
}

/**
 * Resolves when all connections are closed. Waiting for connections alone would not do: one that a client opened ahead, and has not spoken on, doesn't
 * count as idle to Node and would be waited for by the minute.
 */
export async function closeHttp(app: FastifyInstance, requestsInHand: () => number): Promise<void> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    if (requestsInHand() === 0 || performance.now() - startedAt > maxWaitMs) app.server.closeAllConnections();
  }, checkEveryMs);
  try {
    await app.close();
  } finally {
    clearInterval(timer);
  }
}
