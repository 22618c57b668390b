/**
 * The replays of the API: admits one at a time for each project, runs it in a process in its project's turn, and keeps
 * its progress and its events for an hour.
 */
import type { ConfigurationReader, Scope } from '../pipeline/catalog/types.js';
import { createFairLimit } from '../pipeline/fair-limit.js';
import type { HeldLease, HeldLeases } from '../pipeline/held-lease.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import type { RunReplay } from './child.js';
import type { FoundIn, JobBounds, ReplayJob } from './job.js';
import { ReplayRun, Stop } from './replay-run.js';
import { createStoredReplays, type ReplayRecord } from './stored-replays.js';

/** The replays of one node. Every node reads their records and events. */
export interface Replays {
  /**
   * Starts a replay, which waits for its turn as `running`, without records. Throws `replay_running` while another one
   * of the project runs or waits, and `overloaded` when too many of other projects do.
   */
  start(job: ReplayJob): Promise<ReplayRecord>;
  find(scope: Scope, id: string): Promise<ReplayRecord | undefined>;
  /** Returns kept events from an index on, each as JSON, at most one page. */
  events(record: ReplayRecord, foundIn: FoundIn, from: number, limit: number): Promise<string[]>;
  /** Ends a running replay within a second. */
  cancel(record: ReplayRecord): Promise<void>;
  /** Ends all that run on this node. */
  close(): Promise<void>;
}

/** What the replays of a node work with. */
export interface ReplaysParts {
  readonly configuration: Pick<ConfigurationReader, 'revisionOf' | 'erasures'>;
  readonly values: ExpiringValues;
  readonly leases: HeldLeases;
  readonly run: RunReplay;
  readonly clock: () => number;
  readonly bounds: JobBounds;
  /** Of all projects, on this node. */
  readonly maxRunning?: number;
  /** Replays of all projects that wait for their turn, on this node. */
  readonly maxWaiting?: number;
  /** Limit of a replay from its turn on. */
  readonly maxMs?: number;
  /** Interval at which progress is stored, the lease is renewed, and a cancellation is noticed. */
  readonly everyMs?: number;
}

/** Time after which a replay of a node that has ended no longer counts as running. */
const leaseMs = 30_000;
const retryAfterS = 10;
const isFull = 'replays of other projects run and wait on this server; try again later';

const leaseKey = (project: string): string => `replay-running/${project}`;

const noneKept: ReplayRecord['kept'] = { both: 0, replay: 0, record: 0 };

/** Creates the replays of one node. Their records and events are visible on all nodes. */
export function createReplays({
  configuration,
  values,
  leases,
  run,
  clock,
  bounds,
  maxRunning = 1,
  maxWaiting = 20,
  maxMs = 600_000,
  everyMs = 500,
}: ReplaysParts): Replays {
  const stored = createStoredReplays(values);
  /** Those that run, and those that wait for their turn. */
  const running = new Map<string, Stop>();
  const inTurn = createFairLimit({ maxRunning, maxWaitingPerProject: 1, refusal: isFull, retryAfterS });
  const runParts = { configuration, stored, run, inTurn, clock, bounds, maxMs, everyMs };
  /** Ids of those whose end is being stored. */
  const ending = new Set<string>();
  const following = new Set<Promise<void>>();
  const closing = new AbortController();

  /** Returns the record without lists if something was erased since: they may contain it. */
  function withoutErased(record: ReplayRecord | undefined): ReplayRecord | undefined {
    if (record === undefined) return undefined;
    const known = new Set(record.erasures);
    return configuration.erasures(record).every(({ _id }) => known.has(_id)) ? record : { ...record, kept: noneKept };
  }

  async function findAsStored(scope: Scope, id: string): Promise<ReplayRecord | undefined> {
    const record = await stored.get(scope, id);
    if (record?.status !== 'running' || running.has(id) || ending.has(id)) return record;
    if ((await leases.holderOf(leaseKey(record.project))) === id) return record;
    // It may have ended between the two reads.
    const again = (await stored.get(scope, id)) ?? record;
    if (again.status !== 'running') return again;
    return { ...again, status: 'failed', message: 'the server that ran it has ended' };
  }

  /** Runs a replay to its end, and stores the end. */
  async function follow(record: ReplayRecord, job: ReplayJob, lease: HeldLease, stop: Stop): Promise<void> {
    const { _id } = record;
    const ended = await new ReplayRun(runParts, record, stop).run(job);
    // A client that sees the end may start the next replay.
    running.delete(_id);
    ending.add(_id);
    // Without the store, the record expires by itself.
    await stored.put(ended).catch(() => undefined);
    ending.delete(_id);
    await lease.release();
  }

  /** Returns whether a replay of the project has ended, and has not released its lease yet. */
  async function hasEnded(project: string, id: string): Promise<boolean> {
    for (const environment of ['test', 'live'] as const) {
      const record = await stored.get({ project, environment }, id);
      if (record !== undefined) return record.status !== 'running';
    }
    return false;
  }

  async function takeLease(project: string, id: string): Promise<HeldLease> {
    const isAbandoned = async (holder: string) => leases.isOrphan(holder) || hasEnded(project, holder);
    const terms = { leaseMs, renewEveryMs: everyMs, isAbandoned, closing: closing.signal };
    const lease = await leases.hold(leaseKey(project), id, terms);
    if (lease !== undefined) return lease;
    const message = 'another replay of this project is running; cancel it, or wait until it has ended';
    throw new ApiError('replay_running', message, { retryAfterS });
  }

  return {
    async start(job) {
      const id = freshId(clock());
      const lease = await takeLease(job.scope.project, id);
      const stop = new Stop();
      lease.lost.addEventListener('abort', () => stop.because('lease_lost'));
      try {
        if (running.size >= maxRunning + maxWaiting) throw new ApiError('overloaded', isFull, { retryAfterS });
        running.set(id, stop);
        const record = newRecord(job, id, clock());
        await stored.put(record);
        const followed = follow(record, job, lease, stop).finally(() => following.delete(followed));
        following.add(followed);
        return record;
      } catch (error) {
        running.delete(id);
        await lease.release();
        throw error;
      }
    },
    find: async (scope, id) => withoutErased(await findAsStored(scope, id)),
    events: stored.events,
    async cancel(record) {
      if (record.status !== 'running') return;
      await stored.askToCancel(record._id);
      running.get(record._id)?.because('cancelled');
    },
    async close() {
      closing.abort(new ApiError('unavailable', 'the server is stopping', { retryAfterS }));
      for (const stop of running.values()) stop.because('closing');
      await Promise.all(following);
    },
  };
}

const newRecord = ({ scope, range, erased }: ReplayJob, _id: string, createdAt: number): ReplayRecord => ({
  ...scope,
  _id,
  createdAt,
  finishedAt: null,
  status: 'running',
  message: null,
  fromMs: range.fromMs,
  toMs: range.toMs,
  erasures: [...erased.ids],
  recordsTotal: 0,
  recordsRead: 0,
  summary: null,
  kept: noneKept,
});
