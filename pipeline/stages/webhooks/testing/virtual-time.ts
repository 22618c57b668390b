/** Time that passes only when a test says so. */
import type { Timers } from '../background.js';

interface PendingTimer {
  atMs: number;
  /** Of one that repeats. */
  readonly everyMs?: number;
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
    repeat: (callback, everyMs) => {
      const timer = { atMs: this.nowMs + everyMs, everyMs, callback };
      this.#pending.add(timer);
      return timer;
    },
    clear: (timer) => this.#pending.delete(timer as PendingTimer),
  };

  /** Epoch ms of the next timer that calls back once; Infinity where there is none. */
  get nextAtMs(): number {
    return Math.min(
      ...[...this.#pending].map(({ atMs, everyMs }) => (everyMs === undefined ? atMs : Number.POSITIVE_INFINITY)),
    );
  }

  /** Lets time pass until then, and every timer on the way call back in order. */
  passTo(atMs: number): void {
    for (;;) {
      const [first] = [...this.#pending].sort((a, b) => a.atMs - b.atMs);
      if (first === undefined || first.atMs > atMs) break;
      this.nowMs = Math.max(this.nowMs, first.atMs);
      if (first.everyMs === undefined) this.#pending.delete(first);
      else first.atMs += first.everyMs;
      first.callback();
    }
    this.nowMs = Math.max(this.nowMs, atMs);
  }

  pass(durationMs: number): void {
    this.passTo(this.nowMs + durationMs);
  }
}
