/** Work that is done at intervals, by one node at a time. */
import { ignorePassing } from './errors.js';
import { createFailure } from './failure.js';
import type { Leases } from './ports.js';

export interface Sweeper {
  start(): void;
  /** Resolves when the running sweep has ended. */
  stop(): Promise<void>;
  /** Rejects if a sweep failed: the process then ends. Resolves on stop. */
  readonly done: Promise<void>;
}

interface SweeperParts {
  /** Name of the lease. */
  readonly name: string;
  readonly leases: Leases;
  readonly intervalMs: number;
  /** Checked before the lease is taken, because most intervals have nothing to do. */
  readonly isDue: () => boolean;
  /** Does what is due, in parts, and ends between two parts when `stopping` aborts. */
  readonly sweep: (stopping: AbortSignal) => Promise<void>;
}

/** Creates a sweeper. Any node may sweep; a lease lets one node at a time. */
export function createSweeper({ name, leases, intervalMs, isDue, sweep }: SweeperParts): Sweeper {
  const { failed, fail } = createFailure();
  let end = () => {};
  const stopped = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sweeping = Promise.resolve();

  async function sweepInTurn(): Promise<void> {
    if (isDue() && (await leases.take(name, intervalMs))) await sweep(stopping.signal);
  }

  function sweepAndPlanNext(): void {
    sweeping = sweepInTurn()
      // A full disk or log, or an outage: the next sweep tries again.
      .catch(ignorePassing)
      .then(() => {
        if (!stopping.signal.aborted) timer = setTimeout(sweepAndPlanNext, intervalMs);
      }, fail);
  }

  return {
    done: Promise.race([failed, stopped]),
    start: sweepAndPlanNext,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await sweeping;
      end();
    },
  };
}
