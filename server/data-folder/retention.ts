/**
 * Periodically deletes records of the embedded log that are older than the retention of their topic, and expired
 * values.
 */
import type { Embedded } from '../../backends/embedded/embedded.js';
import { createFailure } from '../../pipeline/failure.js';

const intervalMs = 10 * 60 * 1000;

interface Sweeps {
  /** Rejects when a sweep fails. */
  readonly done: Promise<void>;
  /** Waits for a running sweep. */
  stop(): Promise<void>;
}

/** Starts to sweep at an interval. The caller stops it before it closes the log. `done` rejects when a sweep fails. */
export function startSweeps({ log, values, answers }: Pick<Embedded, 'log' | 'values' | 'answers'>): Sweeps {
  let running: Promise<void> = Promise.resolve();
  const { failed, fail } = createFailure();
  const timer = setInterval(() => {
    running = running
      .then(() => log.sweep(Date.now()))
      .then(() => values.sweep())
      .then(() => answers.sweep());
    running.catch(fail);
  }, intervalMs);
  timer.unref();
  return {
    done: failed,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
