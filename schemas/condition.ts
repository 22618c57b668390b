/** A condition variable: whoever waits for a change of shared state checks the state again after each notice. */

interface WaitOptions {
  /** Ends the wait after this time. Default: no limit. */
  readonly maxMs?: number;
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Nothing is remembered: a notice reaches only those that wait already. Waiters therefore check their state in a loop,
 * and wait in the same turn of the event loop in which they checked it.
 */
export class Condition {
  readonly #wakers = new Set<() => void>();

  /** Resolves at the next notice, or when an option ends the wait. Never rejects. */
  wait({ maxMs, signal }: WaitOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wakers.delete(wake);
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = maxMs === undefined ? undefined : setTimeout(wake, maxMs);
      this.#wakers.add(wake);
      signal?.addEventListener('abort', wake);
      if (signal?.aborted) wake();
    });
  }

  /** Wakes all that wait now. */
  notifyAll(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
