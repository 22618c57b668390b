/** Shares among projects what only a few requests may use at the same time. */
import { PortError } from './errors.js';

export interface FairLimitOptions {
  readonly maxRunning: number;
  readonly maxWaitingPerProject: number;
  /** The message of the error for a project that has as many waiting. */
  readonly refusal: string;
  readonly retryAfterS: number;
}

/**
 * Runs work of a project in its turn. Rejects as `overloaded` when too much of the project waits, and with the reason
 * of the signal when it aborts first. The place is free again when the work has ended.
 */
export type FairLimit = <T>(project: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** A project of which work runs or waits. */
interface Share {
  running: number;
  /** The number of the turn that it took last. */
  lastTurn: number;
  readonly waiting: Set<() => Promise<void>>;
}

/** Of the projects that wait, the one with the fewest running is next, and then the one whose last turn is oldest. */
export function createFairLimit({
  maxRunning,
  maxWaitingPerProject,
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
        signal?.removeEventListener('abort', leave);
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        } finally {
          release(project, share);
        }
      };
      const leave = (): void => {
        share.waiting.delete(start);
        forgetIdle(project, share);
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      share.waiting.add(start);
      startNext();
    });
}
