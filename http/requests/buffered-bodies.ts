/**
 * Bounds the memory of bodies that are read as a whole, from their first byte until their request is answered. They may
 * arrive slowly, or wait for other work. Input: the chunks of bodies. Output: `overloaded` for the body whose
 * chunk no longer fits.
 */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../schemas/errors.js';
import { createByteBudget } from '../connections/byte-budget.js';
import { announcedBytes } from './uploads.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body as a stream, at its own pace. */
    streamsBody?: boolean;
  }
}

/** Bodies up to this size are read whatever else is in memory. The number of connections bounds them. */
const smallBodyBytes = 16_384;

/** Adds the hook. `maxBufferedBytes` is of all clients together. */
export function boundBufferedBodies(app: FastifyInstance, maxBufferedBytes: number): void {
  const budget = createByteBudget(maxBufferedBytes);
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.routeOptions.config.streamsBody || announcedBytes(request) <= smallBodyBytes)
      return done(null, payload);
    const { ip } = request;
    let own = 0;
    const count = ({ length }: Buffer): void => {
      const isDropped = payload.listenerCount('data') === 1;
      const fits = isDropped || budget.fits(ip, length, own);
      if (isDropped || !fits) payload.off('data', count);
      if (isDropped) return;
      if (fits) {
        budget.add(ip, length);
        own += length;
        return;
      }
      const reason = 'too many bytes of other bodies are waiting for their rest or for their answers';
      // The reader of the body answers the error and drops the rest.
      payload.emit('error', new ApiError('overloaded', reason, { retryAfterS: 1 }));
    };
    // The reader of the body adds its own listeners in this turn, before the first chunk is passed on.
    payload.on('data', count);
    reply.raw.once('close', () => budget.remove(ip, own));
    return done(null, payload);
  });
}
