/** Time that passes, so that tests can let it pass at will. */
export interface Timers {
  /** Calls back once, no sooner than after `delayMs`. */
  set(callback: () => void, delayMs: number): unknown;
  /** Calls back again and again, until it is cleared. */
  repeat(callback: () => void, everyMs: number): unknown;
  clear(timer: unknown): void;
}

export const systemTimers: Timers = {
  set: (callback, delayMs) => setTimeout(callback, delayMs),
  repeat: (callback, everyMs) => setInterval(callback, everyMs),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};
