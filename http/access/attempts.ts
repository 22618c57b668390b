/**
 * Limits attempts to sign in, to sign up, and to have mails sent, over all nodes. Each subject has a counter per window
 * of time. Windows begin at multiples of their length, so an answer can say when the next one begins.
 */
import type { ExpiringValues } from '../../pipeline/ports.js';
import { ApiError } from '../../schemas/errors.js';
import { sha256Hex } from '../../schemas/sha256.js';

/** Attempts of one subject in a window. */
export interface AttemptLimit {
  readonly max: number;
  readonly windowMs: number;
}

/** What is counted, such as the sign-ins of one mail address. */
interface Attempt {
  /** Names the counter. */
  readonly action: string;
  /** A mail address, an IP address, or an id. */
  readonly subject: string;
  readonly limit: AttemptLimit;
}

/** Counts attempts on all nodes together, and limits them. */
export interface Attempts {
  /**
   * Counts in the given order. Throws `too_many_attempts` at the first limit that is exceeded, and does not count the
   * rest. So a refused IP address does not use up the attempts of a mail address.
   */
  count(...attempts: readonly Attempt[]): Promise<void>;
}

/** Creates the counter over values that all nodes share. `clock` returns epoch ms. */
export function createAttempts(values: Pick<ExpiringValues, 'increment'>, clock: () => number): Attempts {
  return {
    async count(...attempts) {
      for (const { action, subject, limit } of attempts) {
        const nowMs = clock();
        const window = Math.floor(nowMs / limit.windowMs);
        // Hashed: subjects are personal, and of any length.
        const hash = sha256Hex(subject).slice(0, 32);
        const count = await values.increment(`attempts/${action}/${hash}/${window}`, limit.windowMs);
        if (count <= limit.max) continue;
        const retryAfterS = Math.max(1, Math.ceil(((window + 1) * limit.windowMs - nowMs) / 1_000));
        throw new ApiError('too_many_attempts', `more than ${limit.max} attempts; try again later`, { retryAfterS });
      }
    },
  };
}
