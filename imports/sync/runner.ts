/**
 * Runs the syncs of all environments: when they are saved or requested, and every night. One run of an environment at a
 * time, on all nodes. On a node, those start first that have waited longest, one of a project at a time.
 *
 * What is due follows from the stored records alone (`schedule.ts`). So a missed night is run at the next start, and a
 * run whose process ended is repeated by whichever node notices first. A lease, which the running node renews, keeps
 * the others out. It is given back before the mail about the run is sent, because a mail server may answer late. The
 * mail has a lease of its own, and is due until a node has sent it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isProjectDeleted } from '../../pipeline/catalog/store/tables/revisions.js';
import type { HeldLease, HeldLeases } from '../../pipeline/held-lease.js';
import { minuteMs } from '../../schemas/durations.js';
import { freshId } from '../../schemas/ids.js';
import type { SyncRecord, SyncRunRecord } from '../../schemas/json/sync.js';
import { type RunBounds, type RunContext, type RunParts, reportRun, runSync } from './run.js';
import { dueRun } from './schedule.js';

/** Bounds of the runs of a node. */
export interface SyncBounds extends RunBounds {
  /** Runs of this node at the same time. */
  readonly maxRunning: number;
}

/** The bounds that no setting changes. */
export const defaultSyncBounds: Omit<SyncBounds, 'maxBytes' | 'maxReadMs'> = {
  maxRunning: 2,
  retryDelaysMs: [2_000, 15_000],
  maxMailsPerHour: 20,
  maxMailsPerAddressPerDay: 200,
  maxImportWaitMs: 30 * minuteMs,
};

/** What the runner of a node works with. */
export interface SyncRunnerParts extends RunParts {
  readonly leases: HeldLeases;
  readonly bounds: SyncBounds;
  /** A folder of its own, which is deleted at the start and at the end. */
  readonly folder: string;
  /** Reports a run that ended by a fault of this node. It is repeated. */
  readonly onProblem: (problem: { readonly sync: string; readonly reason: string }) => void;
  /** Gets each run of this node whose result is stored. */
  readonly onEnded: (sync: SyncRecord, run: SyncRunRecord) => void;
}

interface SyncRunner {
  /** Starts runs that are due, as far as others let it. Resolves when they are started. Called often. */
  tick(): Promise<void>;
  /** Resolves when no run of this node is in progress, and all mails about them are sent. */
  idle(): Promise<void>;
  /** Interrupts the runs of this node. Another node, or the next start, repeats them. */
  close(): Promise<void>;
}

const leaseMs = 60_000;
const renewEveryMs = 5_000;
const retryLeaseMs = 10_000;

interface RunningSync {
  /** As of the start of the run. */
  readonly sync: SyncRecord;
  readonly end: AbortController;
  readonly done: Promise<void>;
}

const leaseKey = ({ _id }: SyncRecord): string => `sync/${_id}`;
const mailLeaseKey = ({ _id }: SyncRunRecord): string => `sync-mail/${_id}`;

/** Creates the runner of a node. It deletes what an earlier process left in the folder. */
export function createSyncRunner(parts: SyncRunnerParts): SyncRunner {
  const { configuration, leases, schedule, clock, bounds, folder, onProblem, onEnded } = parts;
  /** By project. */
  const running = new Map<string, RunningSync>();
  /** Leases that another node holds, with the time of the next attempt. */
  const heldUntil = new Map<string, number>();
  /** Mails that this node sends, by run. */
  const reports = new Map<string, Promise<void>>();
  const closing = new AbortController();
  const terms = { leaseMs, renewEveryMs, closing: closing.signal };
  rmSync(folder, { recursive: true, force: true });

  async function start(sync: SyncRecord): Promise<void> {
    const id = freshId(clock());
    const lease = await leases.hold(leaseKey(sync), id, terms);
    if (lease === undefined) {
      waitFor(leaseKey(sync));
      return;
    }
    const end = new AbortController();
    const signal = AbortSignal.any([closing.signal, end.signal, lease.lost]);
    const done = runToEnd(sync, lease, { id, folder: join(folder, id), signal }).finally(() => {
      running.delete(sync.project);
    });
    running.set(sync.project, { sync, end, done });
  }

  /** Returns why a run must not go on; undefined if it may. A sync that was created again is another one. */
  function withdrawal({ project, environment, createdAt }: SyncRecord): string | undefined {
    if (isProjectDeleted(configuration, project)) return 'the project was deleted';
    const current = configuration.sync({ project, environment });
    if (current?.createdAt !== createdAt) return 'the sync was deleted';
    return current.enabled ? undefined : 'the sync was switched off';
  }

  function waitFor(lease: string): void {
    heldUntil.set(lease, clock() + retryLeaseMs);
  }

  function forgetFreed(nowMs: number): void {
    for (const [lease, untilMs] of heldUntil) {
      // Longer than it ever waits: the clock was set back.
      if (untilMs <= nowMs || untilMs > nowMs + retryLeaseMs) heldUntil.delete(lease);
    }
  }

  /** Returns the syncs that are due and that this node may start, those that have waited longest first. */
  function waiting(nowMs: number): SyncRecord[] {
    return [...configuration.syncs()]
      .filter((sync) => !isProjectDeleted(configuration, sync.project) && !heldUntil.has(leaseKey(sync)))
      .flatMap((sync) => {
        const due = dueRun(sync, schedule, nowMs);
        return due === undefined ? [] : [{ sync, sinceMs: due.sinceMs }];
      })
      .sort((one, other) => one.sinceMs - other.sinceMs)
      .map(({ sync }) => sync);
  }

  const reasonOf = ({ stack, message }: Error): string => stack ?? message;

  async function runToEnd(sync: SyncRecord, lease: HeldLease, context: RunContext): Promise<void> {
    try {
      const finished = await runSync(parts, sync, context);
      if (finished?.lastRun != null) onEnded(finished, finished.lastRun);
      if (finished !== undefined) report(finished);
    } catch (error) {
      if (!context.signal.aborted) onProblem({ sync: sync._id, reason: reasonOf(error as Error) });
      waitFor(leaseKey(sync));
    } finally {
      rmSync(context.folder, { recursive: true, force: true });
      await lease.release();
    }
  }

  /** Starts to send the mails about runs of a sync that have ended. */
  function report(sync: SyncRecord): void {
    for (const run of sync.mailsDue ?? []) {
      if (reports.has(run._id) || heldUntil.has(mailLeaseKey(run))) continue;
      const sending = sendReport(sync, run).finally(() => reports.delete(run._id));
      reports.set(run._id, sending);
    }
  }

  async function sendReport(sync: SyncRecord, run: SyncRunRecord): Promise<void> {
    try {
      const lease = await leases.hold(mailLeaseKey(run), freshId(clock()), terms);
      if (lease === undefined) waitFor(mailLeaseKey(run));
      else await reportRun(parts, sync, run).finally(lease.release);
    } catch (error) {
      if (!closing.signal.aborted) onProblem({ sync: sync._id, reason: reasonOf(error as Error) });
      waitFor(mailLeaseKey(run));
    }
  }

  /** Resolves when no run is in progress, and no mail is under way. */
  async function idle(): Promise<void> {
    while (running.size + reports.size > 0)
      await Promise.all([...Array.from(running.values(), ({ done }) => done), ...reports.values()]);
  }

  return {
    async tick() {
      const nowMs = clock();
      forgetFreed(nowMs);
      for (const { sync, end } of running.values()) {
        const reason = withdrawal(sync);
        if (reason !== undefined) end.abort(new Error(reason));
      }
      if (!closing.signal.aborted) for (const sync of configuration.syncs()) report(sync);
      for (const sync of waiting(nowMs)) {
        if (closing.signal.aborted || running.size >= bounds.maxRunning) return;
        if (running.has(sync.project)) continue;
        await start(sync).catch((error: unknown) => {
          if (!closing.signal.aborted) throw error;
        });
      }
    },
    idle,
    async close() {
      closing.abort(new Error('the server is stopping'));
      await idle();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
