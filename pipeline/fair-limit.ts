/** Shares among projects what only a few requests may use at the same time. */
import { PortError } from './errors.js';

/** Bounds of a {@link FairLimit}, in pieces of work. */
export interface FairLimitOptions {
  readonly maxRunning: number;
  readonly maxWaitingPerProject: number;
  /** How long work waits for its turn. Default: without limit. */
  readonly maxWaitMs?: number;
  /** The message of the error for a project that has as many waiting. */
  readonly refusal: string;
  /** Of that error, and of the one for work that waited too long. */
  readonly retryAfterS: number;
}

/**
 * Runs work of a project in its turn. Rejects as `overloaded` when too much of the project waits or it waits too long,
 * and with the reason of the signal when it aborts first. The place is free again when the work has ended.
 */
export type FairLimit = <T>(project: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** A project of which work runs or waits. */
interface Share {
  running: number;
  /** The number of the turn that it took last. */
  lastTurn: number;
  readonly waiting: Set<() => Promise<void>>;
}

const waitedTooLong = 'the request waited too long for its turn; try again later';

/**
 * Creates a limit of work at the same time. Of the projects that wait, the one with the fewest running is next, and
 * then the one whose last turn is oldest.
 */
export function createFairLimit({
  maxRunning,
  maxWaitingPerProject,
  maxWaitMs,
  refusal,
  retryAfterS,
}: FairLimitOptions): FairLimit {
  const shares = new Map<string, Share>();
  let running = 0;
  let turns = 0;

  const isBefore = (a: Share, b: Share): boolean =>
    a.running === b.running ? a.lastTurn < b.lastTurn : a.running < b.running;

  function shareOf(project: string): Share {
    const share = shares.get(project) ?? { running: 0, lastTurn: 0, waiting: new Set() };
    shares.set(project, share);
    return share;
  }

  function forgetIdle(project: string, { running, waiting }: Share): void {
    if (running === 0 && waiting.size === 0) shares.delete(project);
  }

  function startNext(): void {
    if (running >= maxRunning) return;
    let next: Share | undefined;
    for (const share of shares.values()) {
      if (share.waiting.size > 0 && (next === undefined || isBefore(share, next))) next = share;
    }
    if (next === undefined) return;
    const [start] = next.waiting;
    next.waiting.delete(start!);
    running += 1;
    next.running += 1;
    turns += 1;
    next.lastTurn = turns;
    void start!();
  }

  function release(project: string, share: Share): void {
    running -= 1;
    share.running -= 1;
    forgetIdle(project, share);
    startNext();
  }

  return (project, work, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const share = shareOf(project);
      if (share.waiting.size >= maxWaitingPerProject)
        return reject(new PortError('overloaded', refusal, { retryAfterS }));
      const start = async (): Promise<void> => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        } finally {
          release(project, share);
        }
      };
      const leave = (reason: unknown): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        share.waiting.delete(start);
        forgetIdle(project, share);
        reject(reason);
      };
      const onAbort = (): void => leave(signal!.reason);
      const onTimeout = (): void => leave(new PortError('overloaded', waitedTooLong, { retryAfterS }));
      const timer = maxWaitMs === undefined ? undefined : setTimeout(onTimeout, maxWaitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      share.waiting.add(start);
      startNext();
    });
}
