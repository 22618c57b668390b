/**
 * Periodically deletes records of the embedded log that are older than the retention of their topic, and expired
 * values.
 */
import type { Embedded } from '../../backends/embedded/embedded.js';
import { createFailure } from '../../pipeline/failure.js';

/** Soon, so that a node that restarts often removes its expired records too. */
const firstAfterMs = 60 * 1000;
const intervalMs = 10 * 60 * 1000;

/** The stores that a node sweeps. */
type SweptStores = { readonly [Name in 'log' | 'values' | 'answers']: Pick<Embedded[Name], 'sweep'> };

interface Sweeps {
  /** Rejects when a sweep fails. */
  readonly done: Promise<void>;
  /** Waits for a running sweep. */
  stop(): Promise<void>;
}

/**
 * Sweeps a minute after the start, and then every ten minutes. The caller stops it before it closes the log. `done`
 * rejects when a sweep fails.
 */
export function startSweeps({ log, values, answers }: SweptStores): Sweeps {
  let running: Promise<void> = Promise.resolve();
  const { failed, fail } = createFailure();
  let timer = setTimeout(sweep, firstAfterMs).unref();
  function sweep(): void {
    timer = setTimeout(sweep, intervalMs).unref();
    running = running
      .then(() => log.sweep(Date.now()))
      .then(() => values.sweep())
      .then(() => answers.sweep());
    running.catch(fail);
  }
  return {
    done: failed,
    async stop() {
      clearTimeout(timer);
      await running;
    },
  };
}
