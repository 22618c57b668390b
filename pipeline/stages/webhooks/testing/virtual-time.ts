/** Virtual time: passes only when a test advances it. */
import type { Timers } from '../../background.js';

interface PendingTimer {
  atMs: number;
  /** Interval of a repeating timer. */
  readonly everyMs?: number;
  readonly callback: () => void;
}

/** The clocks and timers of a stage under test. */
export class VirtualTime {
  nowMs: number;
  readonly #pending = new Set<PendingTimer>();
  #setBackMs = 0;

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.nowMs = nowMs;
  }

  readonly clock = (): number => this.nowMs;
  readonly monotonicMs = (): number => this.nowMs + this.#setBackMs;

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

  /** Epoch ms of the next one-shot timer; Infinity without one. */
  get nextAtMs(): number {
    return Math.min(
      ...[...this.#pending].map(({ atMs, everyMs }) => (everyMs === undefined ? atMs : Number.POSITIVE_INFINITY)),
    );
  }

  /** Advances the time, calling timers in order. */
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

  /** Lets time pass, and fires the timers that are due in their order. */
  pass(durationMs: number): void {
    this.passTo(this.nowMs + durationMs);
  }

  /** Sets the clock back. Timers do not follow the clock: they fire after their delays as before. */
  setBack(stepMs: number): void {
    this.nowMs -= stepMs;
    this.#setBackMs += stepMs;
    for (const timer of this.#pending) timer.atMs -= stepMs;
  }
}
