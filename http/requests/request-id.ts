/** The id of a request, which answers, failures and the log name. */
import type { IncomingMessage } from 'node:http';
import { freshId } from '../../schemas/ids.js';

const wellFormed = /^[\w.:-]{8,64}$/;

/**
 * Returns the caller's X-Request-Id if it has 8 to 64 letters, digits and `-_.:`, otherwise a fresh id. So one id runs
 * through the logs of all services. Nothing may rely on its being unique.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && wellFormed.test(given) ? given : freshId();
}
