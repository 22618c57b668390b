/** Applies changes to the read model in their order, each batch in one transaction with the offset after it. */
import { Condition } from '../../../../schemas/condition.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { ChangedThing, DecodedChange, EditOutcome } from '../../types.js';
import { type Databases, versionNames } from '../tables/databases.js';
import { PendingEdits } from '../tables/revisions.js';
import { noVersion } from '../tables/stored-fence.js';
import type { ChangeFeed } from './change-feed.js';
import type { Kind } from './kinds.js';
import type { ListWriter } from './list-writer.js';
import { createPreparedWriter } from './prepared-writer.js';

export interface ChangeApplierParts {
  readonly databases: Databases;
  readonly lists: ListWriter;
  readonly kinds: Readonly<Record<ChangeKind, Kind>>;
  readonly feed: ChangeFeed;
  /** As of {@link createChangeFeed}. */
  readonly feedRecords: number;
  /** Runs a transaction. May repeat one that failed, because it wrote nothing. */
  readonly commit: (transaction: () => Promise<void>) => Promise<void>;
}

export interface ChangeApplier {
  /**
   * Applies changes in order; resolves when readers see them. Calls may overlap and are applied in their order: a
   * commit waits for the disk, and the next transaction runs meanwhile. The changes must come from
   * `createChangeDecoder`. After an unexpected rejection the same changes can be applied again.
   */
  apply(changes: readonly DecodedChange[], nextOffset: number, mark?: string | null): Promise<void>;
  /** Outcomes of the edits that this instance applies or refuses. */
  readonly edits: PendingEdits;
  /**
   * Starts again at the first change of a topic that was replaced. Deletes records for which `isKept` is false; the
   * others stay visible until the topic changes them. Following instances load everything again. No `apply` may run
   * meanwhile.
   */
  restart(isKept: (kind: ChangeKind, id: string) => boolean): Promise<void>;
  /** Resolves when this instance has applied everything before `offset`; rejects with the reason of `signal`. */
  waitFor(offset: number, signal?: AbortSignal): Promise<void>;
}

type Settled = readonly [edit: string, outcome: EditOutcome];

/** A call of `apply` that has not ended. */
interface ApplyCall {
  readonly nextOffset: number;
  readonly applied: Promise<void>;
}

/** Ends a transaction that has written nothing, because the one before it was not committed. */
class EarlierFailed extends Error {}

export function createChangeApplier(parts: ChangeApplierParts): ChangeApplier {
  const { databases, lists, kinds, feed, feedRecords, commit } = parts;
  const { root, meta, number, revisions } = databases;
  const preparedWriter = createPreparedWriter(databases, lists);
  const edits = new PendingEdits();
  /** Notified after each commit. */
  const progress = new Condition();

  /** Runs a transaction after that of an earlier call, which is repeated first if its commit failed. */
  async function committed(write: () => void, earlier: ApplyCall | undefined): Promise<void> {
    for (;;) {
      try {
        return await commit(() => root.transaction(write));
      } catch (error) {
        if (!(error instanceof EarlierFailed)) throw error;
        await earlier?.applied;
      }
    }
  }

  async function applyAfter(
    earlier: ApplyCall | undefined,
    changes: readonly DecodedChange[],
    nextOffset: number,
    mark: string | null,
  ): Promise<void> {
    let outcomes: readonly Settled[] = [];
    const write = (): void => {
      if (earlier !== undefined && number('nextOffset') !== earlier.nextOffset) throw new EarlierFailed();
      outcomes = writeSync(changes, nextOffset, mark);
    };
    await committed(write, earlier);
    for (const [edit, outcome] of outcomes) edits.settle(edit, outcome);
    progress.notifyAll();
  }

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
    for (const [kind, name] of Object.entries(versionNames)) {
      if (applied.some((change) => change.kind === kind)) meta.putSync(name, version);
    }
  }

  /** Writes a batch. Returns the outcomes of the edits of this process. */
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

  /** The newest call that has not ended. */
  let newest: ApplyCall | undefined;
  async function apply(changes: readonly DecodedChange[], nextOffset: number, mark: string | null = null) {
    const call = { nextOffset, applied: applyAfter(newest, changes, nextOffset, mark) };
    newest = call;
    try {
      await call.applied;
    } finally {
      if (newest === call) newest = undefined;
    }
  }

  async function restart(isKept: Parameters<ChangeApplier['restart']>[0]): Promise<void> {
    const write = (): void => {
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
    };
    await commit(() => root.transaction(write));
  }

  async function waitFor(offset: number, signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (number('nextOffset') >= offset) return;
      await progress.wait({ signal });
    }
  }

  return { edits, apply, restart, waitFor };
}

function* allKeys(kinds: ChangeApplierParts['kinds']): Iterable<{ readonly kind: ChangeKind; readonly id: string }> {
  for (const [kind, table] of Object.entries(kinds)) {
    for (const key of table.getKeys()) yield { kind: kind as ChangeKind, id: key.toString('hex') };
  }
}
