/** Writes batches of changes into the read model. All calls must run in a write transaction. */
import type { ChangeKind } from '../../../../schemas/records.js';
import type { ChangedThing, DecodedChange, EditOutcome } from '../../types.js';
import { type Databases, type VersionedKind, versionNames } from '../tables/databases.js';
import { noVersion } from '../tables/stored-fence.js';
import type { ChangeFeed } from './change-feed.js';
import type { Kind } from './kinds.js';
import type { ListWriter } from './list-writer.js';
import { createPreparedWriter } from './prepared-writer.js';

/** What the writer of batches works with. */
export interface BatchWriterParts {
  readonly databases: Databases;
  readonly lists: ListWriter;
  readonly kinds: Readonly<Record<ChangeKind, Kind>>;
  readonly feed: ChangeFeed;
  /** As of {@link createChangeFeed}. */
  readonly feedRecords: number;
}

const versionedKinds = Object.keys(versionNames) as VersionedKind[];

/** Outcome of an edit that a batch had. */
export type Settled = readonly [edit: string, outcome: EditOutcome];

interface BatchWriter {
  /** Writes a batch. Returns the outcomes of the edits of this process. */
  writeSync(changes: readonly DecodedChange[], nextOffset: number, mark: string | null): readonly Settled[];
  /** Begins a topic that was replaced: deletes records for which `isKept` is false, and expects the first change. */
  restartSync(isKept: (kind: ChangeKind, id: string) => boolean): void;
}

/** Creates the writer of batches. A change that its bases do not allow changes nothing, and its edit learns so. */
export function createBatchWriter({ databases, lists, kinds, feed, feedRecords }: BatchWriterParts): BatchWriter {
  const { meta, number, revisions, recent } = databases;
  const preparedWriter = createPreparedWriter(databases, lists);

  /**
   * Applies one change, and adds the outcome of an edit. Returns the things that it changed; undefined if it was
   * refused.
   */
  function applySync(
    change: DecodedChange,
    firstVersion: number,
    outcomes: Settled[],
  ): readonly ChangedThing[] | undefined {
    const { kind, id, origin, prepared } = change;
    const version = origin === undefined ? noVersion : firstVersion + origin.offset;
    const isCreated = prepared?.base === null && preparedWriter.create(id, prepared, version);
    const held = isCreated ? undefined : revisions.heldRevision(kind, id, firstVersion);
    if (origin !== undefined) {
      const isDeletion = prepared === undefined && change.record === null;
      const outcome = revisions.admitSync({ kind, id, isDeletion }, origin, held);
      if (origin.edit !== null) outcomes.push([origin.edit, outcome]);
      if (outcome.kind === 'refused') {
        if (isCreated) preparedWriter.undoCreation(id);
        return undefined;
      }
    }
    if (isCreated) return [preparedWriter.list(id, prepared)];
    if (prepared !== undefined && prepared.base !== null && held === prepared.base)
      return [preparedWriter.replace(id, prepared, version)];
    return kinds[kind].applySync(change, version);
  }

  /** Writes the versions of the kinds that changed, and the latest time of a record. */
  function writeVersionsSync(applied: readonly DecodedChange[], version: number): void {
    const latest = applied.reduce(
      // The record of a prepared change is decoded when it is read.
      (time, change) => Math.max(time, (change.prepared?.after ?? change.record)?.updatedAt ?? 0),
      number('latestTimestamp'),
    );
    meta.putSync('latestTimestamp', latest);
    for (const kind of versionedKinds) {
      const ids = applied.filter((change) => change.kind === kind).map(({ id }) => id);
      if (ids.length === 0) continue;
      meta.putSync(versionNames[kind], version);
      recent.addSync(kind, version, ids);
    }
  }

  function writeSync(changes: readonly DecodedChange[], nextOffset: number, mark: string | null): readonly Settled[] {
    const outcomes: Settled[] = [];
    lists.reset();
    revisions.beginSync();
    const firstVersion = number('firstVersion');
    const version = firstVersion + nextOffset;
    const applied: DecodedChange[] = [];
    const things: ChangedThing[] = [];
    for (const change of changes) {
      const changed = applySync(change, firstVersion, outcomes);
      if (changed === undefined) continue;
      applied.push(change);
      things.push(...changed);
    }
    lists.flushSync();
    feed.addSync(version, things);
    writeVersionsSync(applied, version);
    revisions.forgetSync(changes.at(-1)?.origin?.timestampMs ?? 0);
    meta.putSync('nextOffset', nextOffset);
    meta.putSync('mark', mark ?? '');
    return outcomes;
  }

  function restartSync(isKept: Parameters<BatchWriter['restartSync']>[0]): void {
    lists.reset();
    for (const { kind, id } of [...allKeys(kinds)]) {
      if (!isKept(kind, id)) kinds[kind].applySync({ kind, id, record: null }, noVersion);
    }
    lists.flushSync();
    revisions.clearSync();
    // Far enough that no follower finds its version in the feed.
    const version = number('firstVersion') + number('nextOffset') + feedRecords + 1;
    meta.putSync('firstVersion', version);
    for (const name of Object.values(versionNames)) meta.putSync(name, version);
    meta.putSync('nextOffset', 0);
    meta.putSync('mark', '');
  }

  return { writeSync, restartSync };
}

function* allKeys(kinds: BatchWriterParts['kinds']): Iterable<{ readonly kind: ChangeKind; readonly id: string }> {
  for (const [kind, table] of Object.entries(kinds)) {
    for (const key of table.getKeys()) yield { kind: kind as ChangeKind, id: key.toString('hex') };
  }
}
