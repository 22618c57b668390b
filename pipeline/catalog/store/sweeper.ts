/** Work on the configuration that is done by the clock: any node may do it, and they take turns. */
import { isPortError } from '../../errors.js';
import type { Leases } from '../../ports.js';

export interface Sweeper {
  start(): void;
  /** Resolves when a sweep that is under way has ended. */
  stop(): Promise<void>;
  /** Rejects when a sweep failed; the process ends then. Resolves on stop. */
  readonly done: Promise<void>;
}

export interface SweeperParts {
  /** Of the turns. */
  readonly name: string;
  readonly leases: Leases;
  readonly intervalMs: number;
  /** Asked first: most intervals need nobody's turn. */
  readonly isDue: () => boolean;
  /** Does some of the work that is due. It is called until nothing is. */
  readonly sweep: () => Promise<void>;
}

export function createSweeper({ name, leases, intervalMs, isDue, sweep }: SweeperParts): Sweeper {
  const { promise: done, resolve, reject } = withResolvers();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let sweeping = Promise.resolve();

  async function sweepAll(): Promise<void> {
    if (!isDue() || !(await leases.take(name, intervalMs))) return;
    while (!isStopped && isDue()) await sweep();
  }

  function sweepAndPlanNext(): void {
    sweeping = sweepAll()
      .catch(passFullDisk)
      .then(() => {
        if (!isStopped) timer = setTimeout(sweepAndPlanNext, intervalMs);
      }, reject);
  }

  return {
    done,
    start: sweepAndPlanNext,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await sweeping;
      resolve();
    },
  };
}

/** The next sweep does what this one could not. */
function passFullDisk(error: unknown): void {
  if (!isPortError(error, 'storage_full')) throw error;
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
