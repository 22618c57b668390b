/** Work that is done at intervals, by one node at a time. */
import { createDeferred } from '../schemas/deferred.js';
import { freshId } from '../schemas/ids.js';
import { ignorePassing } from './errors.js';
import { createFailure } from './failure.js';
import type { HeldLease, HeldLeases } from './held-lease.js';

/** Work at intervals that its owner starts and stops. It does nothing before `start`. */
export interface Sweeper {
  start(): void;
  /** Resolves when the running sweep has ended. */
  stop(): Promise<void>;
  /** Rejects if a sweep failed: the process then ends. Resolves on stop. */
  readonly done: Promise<void>;
}

/**
 * Takes the lease of a sweeper by its name. Returns undefined while another node holds it. Rejects if the store does,
 * and with the reason of `closing` when that has aborted.
 */
export type TakeLease = (name: string, closing: AbortSignal) => Promise<HeldLease | undefined>;

interface SweeperParts {
  /** Name of the lease. */
  readonly name: string;
  readonly takeLease: TakeLease;
  readonly intervalMs: number;
  /** Checked before the lease is taken, because most intervals have nothing to do. */
  readonly isDue: () => boolean;
  /** Does what is due, in parts, and ends between two parts when `ending` aborts: on a stop, or without the lease. */
  readonly sweep: (ending: AbortSignal) => Promise<void>;
  /**
   * Returns whether this node goes on later with what it began, as only it knows how far that is. It keeps the lease
   * until then. Default: the lease is released after each sweep.
   */
  readonly isUnfinished?: () => boolean;
}

const terms = { leaseMs: 30_000, renewEveryMs: 5_000 };

/** Creates the leases of sweepers in a store that the nodes share. */
export const createSweeperLeases =
  (leases: HeldLeases): TakeLease =>
  (name, closing) =>
    leases.hold(`sweeper.${name}`, freshId(), { ...terms, closing });

/** Grants every lease, to a node that shares its stores with no other. */
export const leasesOfOnlyNode: TakeLease = async () => ({
  lost: new AbortController().signal,
  release: async () => {},
  leave: async () => {},
});

/** Creates a sweeper. Any node may sweep; a lease, held for as long as a sweep takes, lets one node at a time. */
export function createSweeper(parts: SweeperParts): Sweeper {
  const { name, takeLease, intervalMs, isDue, sweep, isUnfinished = () => false } = parts;
  const { failed, fail } = createFailure();
  const { promise: stopped, resolve: end } = createDeferred();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sweeping = Promise.resolve();
  let lease: HeldLease | undefined;

  async function releaseLease(): Promise<void> {
    const released = lease?.release();
    lease = undefined;
    await released;
  }

  async function sweepWithLease(): Promise<void> {
    lease ??= await takeLease(name, stopping.signal);
    if (lease !== undefined) await sweep(AbortSignal.any([stopping.signal, lease.lost]));
  }

  async function sweepInTurn(): Promise<void> {
    let keepsLease = false;
    try {
      if (lease?.lost.aborted) await releaseLease();
      if (isDue()) await sweepWithLease();
      keepsLease = isUnfinished();
    } finally {
      // After a failure another node may succeed.
      if (!keepsLease) await releaseLease();
    }
  }

  function ignoreExpected(error: unknown): void {
    // A full disk or log, or an outage: the next sweep tries again.
    if (error !== stopping.signal.reason) ignorePassing(error);
  }

  function sweepAndPlanNext(): void {
    sweeping = sweepInTurn()
      .catch(ignoreExpected)
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
      await releaseLease();
      end();
    },
  };
}
