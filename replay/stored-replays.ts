/**
 * What is stored of replays: the record of each, pages of its events, and the wish to cancel it. It expires by itself,
 * and any node reads it for any replay.
 */
import type { Scope } from '../pipeline/catalog/types.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { hourMs } from '../schemas/durations.js';
import type { FoundIn, ReplaySummary } from './job.js';

/** A replay as every node sees it. Times are epoch ms; `finishedAt` is null until it ends. */
export interface ReplayRecord extends Scope {
  readonly _id: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  /** Why it failed. */
  readonly message: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** Ids of the erasures that it leaves out. Later ones end its lists. */
  readonly erasures: readonly string[];
  /** Locations of all projects in the range and its warm-up, and how many are read. */
  readonly recordsTotal: number;
  readonly recordsRead: number;
  readonly summary: ReplaySummary | null;
  /** Events that are kept, by where they were found. */
  readonly kept: Readonly<Record<FoundIn, number>>;
}

/** How long everything is kept from its last write on. */
export const retentionMs = hourMs;
/** A value of the store holds this many events, each of less than 5 kB. */
export const eventsPerPage = 50;

/** The replays of all nodes, in a store that forgets them. */
export interface StoredReplays {
  put(record: ReplayRecord): Promise<void>;
  get(scope: Scope, id: string): Promise<ReplayRecord | undefined>;
  /** Writes a page of events, each as JSON: `eventsPerPage`, and fewer on the last page. */
  putPage(id: string, foundIn: FoundIn, page: number, events: readonly string[]): Promise<void>;
  /** Returns kept events from an index on, each as JSON, at most `limit`. */
  events(record: ReplayRecord, foundIn: FoundIn, from: number, limit: number): Promise<string[]>;
  askToCancel(id: string): Promise<void>;
  isCancelled(id: string): Promise<boolean>;
}

/** Creates the store over values that all nodes share. */
export function createStoredReplays(values: ExpiringValues): StoredReplays {
  const recordKey = ({ project, environment }: Scope, id: string): string => `replay/${project}/${environment}/${id}`;
  const pageKey = (id: string, foundIn: FoundIn, page: number): string => `replay-events/${id}/${foundIn}/${page}`;
  const cancelKey = (id: string): string => `replay-cancel/${id}`;

  return {
    async put(record) {
      await values.put(recordKey(record, record._id), JSON.stringify(record), retentionMs);
    },
    async get(scope, id) {
      const text = await values.get(recordKey(scope, id));
      return text === undefined ? undefined : (JSON.parse(text) as ReplayRecord);
    },
    async putPage(id, foundIn, page, events) {
      await values.put(pageKey(id, foundIn, page), JSON.stringify(events), retentionMs);
    },
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
    async askToCancel(id) {
      await values.put(cancelKey(id), 'cancel', retentionMs);
    },
    isCancelled: async (id) => (await values.get(cancelKey(id))) !== undefined,
  };
}
