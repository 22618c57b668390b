/**
 * The replays of the API: admits one at a time for each project, runs it in a process in its project's turn, and keeps
 * its progress and its events for an hour.
 *
 * They are kept in the expiring values that all nodes share, so that any node answers for any replay.
 */
import { isDeleted } from '../pipeline/catalog/store/tables/revisions.js';
import type { ConfigurationReader, Scope } from '../pipeline/catalog/types.js';
import { ignorePassing } from '../pipeline/errors.js';
import { createFairLimit } from '../pipeline/fair-limit.js';
import { type HeldLease, holdLease } from '../pipeline/held-lease.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { hourMs } from '../schemas/durations.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import type { RunReplay } from './child.js';
import type { FoundIn, JobBounds, JobMessage, ReplayJob, ReplaySummary } from './job.js';

export interface ReplayRecord extends Scope {
  readonly _id: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  /** Why it failed. */
  readonly message: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** Locations of all projects in the range and its warm-up, and how many are read. */
  readonly recordsTotal: number;
  readonly recordsRead: number;
  readonly summary: ReplaySummary | null;
  /** Events that are kept, by where they were found. */
  readonly kept: Readonly<Record<FoundIn, number>>;
}

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

export interface ReplaysParts {
  readonly configuration: Pick<ConfigurationReader, 'revisionOf'>;
  readonly values: ExpiringValues;
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

const keepMs = hourMs;
/** Time after which a replay of a node that has ended no longer counts as running. */
const leaseMs = 30_000;
const retryAfterS = 10;
const isFull = 'replays of other projects run and wait on this server; try again later';
/** A value of the store holds this many events, each of less than 5 kB. */
const eventsPerPage = 50;

/** Why a replay ends early. */
type StopReason = 'cancelled' | 'too_long' | 'project_deleted' | 'lease_lost' | 'not_stored' | 'closing';

/** Ends a replay, for the first reason that it is given. */
function createStop() {
  const controller = new AbortController();
  let first: StopReason | undefined;
  return {
    signal: controller.signal,
    get reason(): StopReason | undefined {
      return first;
    },
    because(reason: StopReason): void {
      first ??= reason;
      controller.abort();
    },
  };
}
type Stop = ReturnType<typeof createStop>;

const noEvents: Readonly<Record<FoundIn, number>> = { both: 0, replay: 0, record: 0 };

export function createReplays({
  configuration,
  values,
  run,
  clock,
  bounds,
  maxRunning = 1,
  maxWaiting = 20,
  maxMs = 600_000,
  everyMs = 500,
}: ReplaysParts): Replays {
  /** Those that run, and those that wait for their turn. */
  const running = new Map<string, Stop>();
  const inTurn = createFairLimit({ maxRunning, maxWaitingPerProject: 1, refusal: isFull, retryAfterS });
  /** Ids of those whose end is being stored. */
  const ending = new Set<string>();
  const following = new Set<Promise<void>>();
  const closing = new AbortController();

  const leaseKey = (project: string): string => `replay-running/${project}`;
  const recordKey = ({ project, environment }: Scope, id: string): string => `replay/${project}/${environment}/${id}`;
  const pageKey = (id: string, foundIn: FoundIn, page: number): string => `replay-events/${id}/${foundIn}/${page}`;
  const cancelKey = (id: string): string => `replay-cancel/${id}`;
  const store = (record: ReplayRecord) => values.put(recordKey(record, record._id), JSON.stringify(record), keepMs);

  async function find(scope: Scope, id: string): Promise<ReplayRecord | undefined> {
    const text = await values.get(recordKey(scope, id));
    if (text === undefined) return undefined;
    const record = JSON.parse(text) as ReplayRecord;
    if (record.status !== 'running' || running.has(id) || ending.has(id)) return record;
    if ((await values.get(leaseKey(record.project))) === id) return record;
    // It may have ended between the two reads.
    const again = JSON.parse((await values.get(recordKey(scope, id))) ?? text) as ReplayRecord;
    if (again.status !== 'running') return again;
    return { ...again, status: 'failed', message: 'the server that ran it has ended' };
  }

  function stoppedBy(reason: StopReason): Partial<ReplayRecord> {
    if (reason === 'cancelled') return { status: 'cancelled' };
    const messages: Readonly<Record<typeof reason, string>> = {
      too_long: `the replay took more than ${maxMs / 1_000} seconds: choose a shorter range`,
      project_deleted: 'the project was deleted',
      lease_lost: 'after a long outage another replay of the project may have started',
      not_stored: 'its events could not be stored',
      closing: 'the server was stopped',
    };
    return { status: 'failed', message: messages[reason] };
  }

  /** Follows one replay to its end, and stores what it says. */
  async function follow(first: ReplayRecord, job: ReplayJob, lease: HeldLease, stop: Stop): Promise<void> {
    const id = first._id;
    let record = first;
    let hasChanged = false;
    let storedAtMs = first.createdAt;
    let startedAtMs: number | undefined;
    const pages: Record<FoundIn, string[]> = { both: [], replay: [], record: [] };
    const pageCounts: Record<FoundIn, number> = { both: 0, replay: 0, record: 0 };
    /** Pages are written in turn. */
    let writing: Promise<unknown> = Promise.resolve();
    let isStored = true;
    const write = (work: () => Promise<unknown>): void => {
      writing = writing.then(work).catch(() => {
        isStored = false;
        stop.because('not_stored');
      });
    };
    function flush(foundIn: FoundIn, least: number): void {
      const waiting = pages[foundIn];
      while (waiting.length >= least) {
        const page = waiting.splice(0, eventsPerPage);
        const key = pageKey(id, foundIn, pageCounts[foundIn]++);
        write(() => values.put(key, JSON.stringify(page), keepMs));
      }
    }
    function hear(message: JobMessage): void {
      hasChanged = true;
      if (message.kind === 'progress')
        record = { ...record, recordsRead: message.records, recordsTotal: message.total };
      else if (message.kind === 'events') {
        pages[message.foundIn].push(...message.events);
        record = {
          ...record,
          kept: { ...record.kept, [message.foundIn]: record.kept[message.foundIn] + message.events.length },
        };
        flush(message.foundIn, eventsPerPage);
      } else if (message.kind === 'end') record = { ...record, status: 'completed', summary: message.summary };
      else record = { ...record, status: 'failed', message: message.reason };
    }
    async function look(): Promise<void> {
      // The end is stored once all events are.
      const current = record;
      if (current.status !== 'running') return;
      // One that waits long must not expire.
      if (hasChanged || clock() - storedAtMs > keepMs / 2) {
        await store(current);
        storedAtMs = clock();
      }
      hasChanged = false;
      if (isDeleted(configuration, 'project', first.project)) stop.because('project_deleted');
      else if ((await values.get(cancelKey(id))) !== undefined) stop.because('cancelled');
      else if (startedAtMs !== undefined && clock() - startedAtMs > maxMs) stop.because('too_long');
    }
    // Without the store, progress is stored later, and a cancellation is noticed later.
    const timer = setInterval(() => write(() => look().catch(ignorePassing)), everyMs);
    try {
      const start = (): Promise<void> => {
        startedAtMs = clock();
        return run(job, bounds, hear, stop.signal);
      };
      await inTurn(first.project, start, stop.signal);
    } catch (error) {
      // One that ends while it waits has a reason of its own.
      if (stop.reason === undefined)
        hear({ kind: 'failed', reason: `the replay could not start: ${(error as Error).message}` });
    }
    clearInterval(timer);
    for (const foundIn of Object.keys(pages) as FoundIn[]) flush(foundIn, 1);
    await writing;
    const end = record.status === 'running' || !isStored ? stoppedBy(stop.reason ?? 'closing') : {};
    // A client that sees the end may start the next replay.
    running.delete(id);
    ending.add(id);
    // Without the store, the record expires by itself.
    await store({ ...record, ...end, finishedAt: clock() }).catch(() => undefined);
    ending.delete(id);
    await lease.release();
  }

  /** Returns whether a replay of the project has ended, and has not released its lease yet. */
  async function hasEnded(project: string, id: string): Promise<boolean> {
    for (const environment of ['test', 'live'] as const) {
      const text = await values.get(recordKey({ project, environment }, id));
      if (text !== undefined) return (JSON.parse(text) as ReplayRecord).status !== 'running';
    }
    return false;
  }

  return {
    async start(job) {
      const id = freshId(clock());
      const { project } = job.scope;
      const isAbandoned = (holder: string) => hasEnded(project, holder);
      const terms = { leaseMs, renewEveryMs: everyMs, isAbandoned, closing: closing.signal };
      const lease = await holdLease(values, leaseKey(project), id, terms);
      if (lease === undefined) {
        const message = 'another replay of this project is running; cancel it, or wait until it has ended';
        throw new ApiError('replay_running', message, { retryAfterS });
      }
      const stop = createStop();
      lease.lost.addEventListener('abort', () => stop.because('lease_lost'));
      try {
        if (running.size >= maxRunning + maxWaiting) throw new ApiError('overloaded', isFull, { retryAfterS });
        running.set(id, stop);
        const record: ReplayRecord = {
          ...job.scope,
          _id: id,
          createdAt: clock(),
          finishedAt: null,
          status: 'running',
          message: null,
          fromMs: job.range.fromMs,
          toMs: job.range.toMs,
          recordsTotal: 0,
          recordsRead: 0,
          summary: null,
          kept: noEvents,
        };
        await store(record);
        const followed = follow(record, job, lease, stop).finally(() => following.delete(followed));
        following.add(followed);
        return record;
      } catch (error) {
        running.delete(id);
        await lease.release();
        throw error;
      }
    },
    find,
    async events({ _id, kept }, foundIn, from, limit) {
      const events: string[] = [];
      const end = Math.min(kept[foundIn], from + limit);
      for (let at = from; at < end; ) {
        const page = Math.floor(at / eventsPerPage);
        const text = await values.get(pageKey(_id, foundIn, page));
        if (text === undefined) break;
        const offset = page * eventsPerPage;
        const part = (JSON.parse(text) as string[]).slice(at - offset, end - offset);
        if (part.length === 0) break;
        events.push(...part);
        at += part.length;
      }
      return events;
    },
    async cancel(record) {
      if (record.status !== 'running') return;
      await values.put(cancelKey(record._id), 'cancel', keepMs);
      running.get(record._id)?.because('cancelled');
    },
    async close() {
      closing.abort(new ApiError('unavailable', 'the server is stopping', { retryAfterS }));
      for (const stop of running.values()) stop.because('closing');
      await Promise.all(following);
    },
  };
}
