/**
 * The node's read model of the configuration, in one LMDB file.
 *
 * Input: changes in the order of topic `changes`, applied in one transaction together with the offset after them.
 * Output: records by id and by list, fences in a form that loads quickly, and a feed of changes, by which other threads
 * that opened the same file follow. One instance applies changes; any number of instances in any thread read.
 *
 * `tables/` has the stored forms of records and reads them; `apply/` changes them. Beside this file are the ways of an
 * edit: `configuration-writer.ts` and `append-change.ts` append it to the topic, `changes.ts` follows the topic.
 *
 * The store may import `schemas`, `pipeline/geometry`, `pipeline/evaluation` and the files of `pipeline/` itself, but
 * neither `catalog/index` nor `catalog/queries`.
 */
import type { RootDatabase } from 'lmdb';
import type { ChangeKind } from '../../../schemas/records.js';
import type { ConfigurationReader, DecodedChange } from '../types.js';
import { type ChangeApplier, createChangeApplier } from './apply/change-applier.js';
import { createChangeFeed } from './apply/change-feed.js';
import { createKinds } from './apply/kinds.js';
import { createListWriter } from './apply/list-writer.js';
import { openDatabases } from './tables/databases.js';
import { createReader, type RecordReader } from './tables/reader.js';

/** All defaults suit a node. Tests set the clock and a short feed. */
export interface ReadModelOptions {
  /** Returns epoch ms, to compare with `deleteAfter`. */
  readonly clock?: () => number;
  /** Number of changes in the feed. A follower that is further behind must load everything again. */
  readonly feedRecords?: number;
  /** Runs a transaction. May repeat one that failed, because it wrote nothing. Default: runs it once. */
  readonly commit?: (transaction: () => Promise<void>) => Promise<void>;
}

/**
 * A read model that is open in this thread, as reader and as applier. Only one instance of a file may apply changes.
 */
export interface ReadModel extends RecordReader, ChangeApplier, ConfigurationReader {
  /** The open LMDB file, for those who watch it. */
  readonly file: RootDatabase;
  /**
   * Makes changes visible that other threads have applied. Without it they become visible in the next turn of the event
   * loop.
   */
  refresh(): void;
  /** Returns the record of any scope, even after its `deleteAfter`; null if there is none. */
  record(kind: ChangeKind, id: string): DecodedChange['record'];
  close(): Promise<void>;
}

/**
 * Version of the stored format. A read model of another format is rebuilt from topic `changes`; the caller compares
 * before opening it.
 */
export const readModelFormat = 7;

/** Opens or creates the read model in the directory `path`. */
export function openReadModel(path: string, options: ReadModelOptions = {}): ReadModel {
  const { clock = Date.now, feedRecords = 100_000, commit = (transaction) => transaction() } = options;
  const databases = openDatabases(path, feedRecords);
  const { root } = databases;
  const lists = createListWriter(databases.lists);
  const kinds = createKinds(databases, lists);
  const feed = createChangeFeed(databases, feedRecords);
  const reader = createReader(databases, clock);
  // Into the reader, because a copy would not have its getters.
  return Object.assign(reader, createChangeApplier({ databases, lists, kinds, feed, feedRecords, commit }), {
    file: root as RootDatabase,
    feed(fromVersion: number, limit = Infinity) {
      const latest = reader.version;
      return fromVersion < latest - feedRecords ? undefined : feed.page(fromVersion, latest, limit);
    },
    record: (kind: ChangeKind, id: string): DecodedChange['record'] => kinds[kind].record(id),
    refresh: () => root.resetReadTxn(),
    close: () => root.close(),
  });
}
