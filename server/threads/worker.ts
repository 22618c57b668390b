/** The worker's side of {@link startWorker}. Calls are accepted at once and wait for the start. */
import { workerData } from 'node:worker_threads';
import { serve } from '../../backends/embedded/remote.js';
import type { WorkerCalls, WorkerStart } from './worker-host.js';

/**
 * Runs `start` and serves the calls that it returns. If the start fails or `done` rejects, the uncaught error ends the
 * process.
 */
export function runWorker<Calls extends object>(
  start: (given: WorkerStart) => Promise<{ calls: Calls & Omit<WorkerCalls, 'ready'>; done: Promise<void> }>,
): void {
  const given = workerData as WorkerStart;
  const started = start(given);
  const served = new Proxy({} as Record<string, (...args: unknown[]) => Promise<unknown>>, {
    get:
      (_, name) =>
      async (...args: unknown[]) => {
        const { calls } = await started;
        if (name === 'ready') return undefined;
        return (calls as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>)[name]?.(...args);
      },
  });
  serve(given.calls, served);
  void started.then(({ done }) => done);
}
