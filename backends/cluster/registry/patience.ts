/** Sits an outage out: tries again, more and more seldom, until a limit. */
import { setTimeout as delay } from 'node:timers/promises';

const firstWaitMs = 100;
const maxWaitMs = 5_000;

export interface Patience {
  /** No try begins later than this after the first. */
  readonly limitMs: number;
  /** Whether the same may succeed later. */
  readonly isOutage: (error: unknown) => boolean;
  /** Told why, once, before the first wait. */
  readonly onWait: (reason: string) => void;
}

/** Rejects as the last try did. */
export async function patiently<T>(operation: () => Promise<T>, { limitMs, isOutage, onWait }: Patience): Promise<T> {
  const startedAtMs = Date.now();
  for (let tries = 0; ; tries++) {
    try {
      return await operation();
    } catch (error) {
      const waitMs = Math.min(firstWaitMs * 2 ** tries, maxWaitMs) * (0.5 + Math.random() / 2);
      if (!isOutage(error) || Date.now() + waitMs - startedAtMs > limitMs) throw error;
      if (tries === 0) onWait((error as Error).message);
      await delay(waitMs);
    }
  }
}
