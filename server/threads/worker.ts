/** The worker's side of {@link startWorker}. Calls are accepted at once and wait for the start. */
import { workerData } from 'node:worker_threads';
import { serve } from '../../backends/embedded/remote.js';
import type { WorkerCalls, WorkerStart } from './worker-host.js';

/**
 * Runs `start` and serves the calls that it returns. If the start fails or `done` rejects, the uncaught error ends the
 * process.
 */
export function runWorker<Calls extends { [name in keyof Calls]: (...args: never[]) => Promise<unknown> }>(
  start: (given: WorkerStart) => Promise<{ calls: Calls & Omit<WorkerCalls, 'ready'>; done: Promise<void> }>,
): void {
  const given = workerData as WorkerStart;
  const started = start(given);
  serve(
    given.calls,
    started.then(({ calls }) => ({ ...calls, ready: async () => {} })),
  );
  void started.then(({ done }) => done);
}
