/** Time that passes only when a test says so. */
import type { Timers } from '../timers.js';

interface PendingTimer {
  readonly atMs: number;
  readonly callback: () => void;
}

export class VirtualTime {
  nowMs: number;
  readonly #pending = new Set<PendingTimer>();

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.nowMs = nowMs;
  }

  readonly clock = (): number => this.nowMs;

  readonly timers: Timers = {
    set: (callback, delayMs) => {
      const timer = { atMs: this.nowMs + Math.max(0, delayMs), callback };
      this.#pending.add(timer);
      return timer;
    },
    clear: (timer) => this.#pending.delete(timer as PendingTimer),
  };

  /** Epoch ms of the next timer; Infinity where there is none. */
  get nextAtMs(): number {
    return Math.min(...[...this.#pending].map(({ atMs }) => atMs));
  }

  /** Lets time pass until then, and every timer on the way call back in order. */
  passTo(atMs: number): void {
    while (this.nextAtMs <= atMs) {
      const [first] = [...this.#pending].sort((a, b) => a.atMs - b.atMs) as [PendingTimer];
      this.#pending.delete(first);
      this.nowMs = first.atMs;
      first.callback();
    }
    this.nowMs = Math.max(this.nowMs, atMs);
  }

  pass(durationMs: number): void {
    this.passTo(this.nowMs + durationMs);
  }
}
