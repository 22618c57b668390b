/** Work that runs in the background: promises that nobody awaits, and timers. Tests replace the timers. */
import { Condition } from '../../schemas/condition.js';

/** Timers as of the system's clock, or virtual ones. A cleared timer never calls back. */
export interface Timers {
  /** Calls back once, after `delayMs` or after the longest delay that a timer can have: the callback looks again. */
  set(callback: () => void, delayMs: number): unknown;
  /** Calls back at an interval until cleared. */
  repeat(callback: () => void, everyMs: number): unknown;
  clear(timer: unknown): void;
}

/** A longer timer of Node ends after a millisecond, again and again. */
const maxDelayMs = 2 ** 31 - 1;

/** The timers of Node. A delay beyond what they can hold ends early, and callers look at the time again. */
export const systemTimers: Timers = {
  set: (callback, delayMs) => setTimeout(callback, Math.min(delayMs, maxDelayMs)),
  repeat: (callback, everyMs) => setInterval(callback, everyMs),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Runs promises in the background and reports their rejections. */
export class Background {
  readonly #onFailure: (error: unknown) => void;
  #running = 0;
  readonly #idle = new Condition();

  /** @param onFailure Called with every rejection. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Counts the promise as running until it ends. A rejection goes to `onFailure`. */
  run(work: Promise<unknown>): void {
    this.#running += 1;
    work.then(this.#ended, (error) => {
      this.#onFailure(error);
      this.#ended();
    });
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    while (this.#running > 0) await this.#idle.wait();
  }

  readonly #ended = (): void => {
    this.#running -= 1;
    if (this.#running === 0) this.#idle.notifyAll();
  };
}
