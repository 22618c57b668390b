/**
 * Bounds the memory of answers that their clients have not read yet. Input: the size of each answer, and the end of
 * its response. Output: `overloaded` instead of what no longer fits.
 */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../schemas/errors.js';
import { changesNothing } from '../access/origin.js';
import { createByteBudget } from '../connections/byte-budget.js';

/** Answers up to this size are sent whatever else is unsent, so that slow readers do not stop track calls. */
const smallAnswerBytes = 16_384;

const overloaded = (): ApiError =>
  new ApiError('overloaded', 'too much data of earlier answers has not been read by its clients', { retryAfterS: 1 });

/** Adds the hooks. Streams are not counted: they wait for their reader. `maxUnsentBytes` is of all clients together. */
export function boundUnsentAnswers(app: FastifyInstance, maxUnsentBytes: number): void {
  const budget = createByteBudget(maxUnsentBytes);
  // A call that changes something is refused before it has an effect, because its sender repeats it.
  app.addHook('onRequest', (request, _reply, done) => {
    if (changesNothing(request.method) || budget.fits(request.ip, 0)) done();
    else done(overloaded());
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    // A client that has left reads nothing, and its response has closed already.
    if (bytes <= smallAnswerBytes || reply.raw.destroyed) return done(null, payload);
    const { ip, method } = request;
    if (changesNothing(method) && !budget.fits(ip, bytes)) {
      for (const name of ['Content-Type', 'Content-Encoding', 'ETag', 'Last-Modified']) reply.removeHeader(name);
      return done(overloaded());
    }
    budget.add(ip, bytes);
    reply.raw.once('close', () => budget.remove(ip, bytes));
    return done(null, payload);
  });
}
