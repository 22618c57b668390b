/** Deletes, by the clock, the geofences whose `deleteAfter` passed so long ago that no location of before is expected any more. */
import { ApiError } from '../../schemas/errors.js';
import type { Turns } from '../ports.js';
import type { ConfigurationWriter } from './types.js';
import type { View } from './view.js';

/** Deleted in one write; a sweep goes on until nothing is due. */
const maxDeletedAtOnce = 1_000;

export interface ExpirySweeper {
  start(): void;
  /** Resolves when a sweep that is under way has ended. */
  stop(): Promise<void>;
  /** Rejects when a sweep failed; the process ends then. Resolves on stop. */
  readonly done: Promise<void>;
}

/**
 * Every node may sweep, and they take turns: a second tombstone for the same geofence changes nothing. Should the owner move `deleteAfter` in the moment between
 * looking and writing, the tombstone wins.
 */
export function createExpirySweeper({
  view,
  writer,
  turns,
  clock = Date.now,
  intervalMs = 15_000,
  keepMs,
}: {
  view: Pick<View, 'expired'>;
  writer: Pick<ConfigurationWriter, 'write'>;
  turns: Turns;
  clock?: () => number;
  intervalMs?: number;
  /** How long after its `deleteAfter` a geofence is kept for late locations. */
  keepMs: number;
}): ExpirySweeper {
  const { promise: done, resolve, reject } = withResolvers();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let sweeping = Promise.resolve();

  const due = (): string[] => view.expired(clock() - keepMs, maxDeletedAtOnce);

  async function sweep(): Promise<void> {
    // Asked for only when there is something to do: most intervals need nobody's turn.
    if (due().length === 0 || !(await turns.take('expiry', intervalMs))) return;
    while (!isStopped && due().length > 0) {
      // A view that lags behind the log may show a time that its owner has moved: look again once it has caught up.
      await writer.write([]);
      await writer.write(due().map((id) => ({ kind: 'geofence', id, record: null })));
    }
  }

  function sweepAndPlanNext(): void {
    sweeping = sweep()
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

/** The next sweep deletes what this one could not. */
function passFullDisk(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'storage_full')) throw error;
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
