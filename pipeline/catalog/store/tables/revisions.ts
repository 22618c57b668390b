/**
 * Decides which edits are applied. The decision depends only on the log, so all read models agree.
 *
 * An edit names its bases: the revisions of its record that it takes into account. It is applied if the record is at
 * one of them; otherwise it is refused and changes nothing. The revision of a record is the offset of the last applied
 * change. See docs/decisions/020.
 */
import { randomUUID } from 'node:crypto';
import type { RootDatabase } from 'lmdb';
import { dayMs } from '../../../../schemas/durations.js';
import { isId } from '../../../../schemas/ids.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { LogRecord, RecordHeaders } from '../../../ports.js';
import type { Base, ChangeOrigin, EditOutcome, EncodedChange, PreparedFence, RecordRevision } from '../../types.js';
import { checkedId, idBytes, idKey } from './keys.js';

/**
 * Time for which a deletion is remembered, by the log's timestamps: as long as the topic keeps it. A later edit that
 * did not know of the deletion would restore the record.
 */
const deletionsRememberedMs = 30 * dayMs;
/** Read models delete the entry later than they ignore it, so that all decide alike. */
const forgottenAfterMs = deletionsRememberedMs + dayMs;
const maxForgottenAtOnce = 1_000;

/**
 * Decides whether a change is applied. `current` is the revision of its record, or undefined if the record is unknown.
 */
export function isApplicable(current: RecordRevision | undefined, { bases, timestampMs }: ChangeOrigin): boolean {
  if (bases === null || current === undefined) return true;
  const { revision, deletedAtMs } = current;
  // A base newer than the known revision: compaction removed the changes in between.
  if (bases.some((base) => base !== 'absent' && base >= revision)) return true;
  return bases.includes('absent') && deletedAtMs !== null && timestampMs - deletedAtMs > deletionsRememberedMs;
}

/** Returns whether there was a project that is deleted. It is known for a month. */
export const isProjectDeleted = (
  configuration: { revisionOf(kind: 'project', id: string): RecordRevision | undefined },
  id: string,
): boolean => isId(id) && configuration.revisionOf('project', id)?.deletedAtMs != null;

const editHeader = 'edit';
const basesHeader = 'bases';

/** Returns an id that identifies the outcome of an edit. */
export const newEditId = (): string => randomUUID();

/** Returns the headers of an edit's record. Without `bases`, the edit applies to any revision. */
export const editHeaders = (edit: string, bases: readonly Base[] | undefined): RecordHeaders =>
  bases === undefined ? { [editHeader]: edit } : { [editHeader]: edit, [basesHeader]: bases.join(',') };

/** Reads the headers that {@link editHeaders} wrote. Invalid bases match nothing. */
export function originOf({
  offset,
  timestamp,
  headers,
}: Pick<LogRecord, 'offset' | 'timestamp' | 'headers'>): ChangeOrigin {
  const bases = headers?.[basesHeader];
  return {
    offset,
    timestampMs: timestamp,
    edit: headers?.[editHeader] ?? null,
    bases:
      bases === undefined
        ? null
        : bases.split(',').map((base) => (base === 'absent' ? base : Number.parseInt(base, 10))),
  };
}

/** A record whose newest changes were refused. Compaction would keep these and drop the applied one. */
export interface Contested {
  readonly kind: ChangeKind;
  readonly id: string;
}

/** The edits of one write. */
interface EditGroup {
  readonly outcomes: EditOutcome[];
  left: number;
  resolve(outcomes: readonly EditOutcome[]): void;
  reject(error: Error): void;
}

/** The edits of this process whose outcome is awaited. */
export class PendingEdits {
  readonly #waiting = new Map<
    string,
    { readonly group: EditGroup; readonly index: number; readonly prepared: PreparedFence | undefined }
  >();

  /**
   * Resolves with the outcomes, in their order; rejects if a change is invalid. Must be called before the edits are
   * appended.
   */
  outcomes(edits: readonly Pick<EncodedChange, 'edit' | 'prepared'>[]): Promise<readonly EditOutcome[]> {
    return new Promise((resolve, reject) => {
      const group: EditGroup = { outcomes: new Array(edits.length), left: edits.length, resolve, reject };
      for (const [index, { edit, prepared }] of edits.entries()) this.#waiting.set(edit, { group, index, prepared });
      if (edits.length === 0) resolve([]);
    });
  }

  /** Returns what was prepared for the edit, if anything. */
  preparedOf(edit: string): PreparedFence | undefined {
    return this.#waiting.get(edit)?.prepared;
  }

  /**
   * Notes the outcome of an edit, once. Its write resolves when all edits of the write have one. Does nothing for edits
   * of other nodes.
   */
  settle(edit: string, outcome: EditOutcome): void {
    const waiting = this.#waiting.get(edit);
    if (waiting === undefined) return;
    const { group, index } = waiting;
    if (group.outcomes[index] === undefined) group.left -= 1;
    group.outcomes[index] ??= outcome;
    if (group.left === 0) group.resolve(group.outcomes);
  }

  /** Rejects the write that the edit belongs to. */
  fail(edit: string, error: Error): void {
    this.#waiting.get(edit)?.group.reject(error);
  }

  /** Forgets edits that nobody waits for any more. */
  forget(edits: readonly Pick<EncodedChange, 'edit'>[]): void {
    for (const { edit } of edits) this.#waiting.delete(edit);
  }
}

/** The stored keys contain the number of a kind, so a number never changes. */
export const kindNumbers: Readonly<Record<ChangeKind, number>> = {
  project: 0,
  geofence: 1,
  beacon: 2,
  webhook: 3,
  'map-style': 4,
  'map-marker': 5,
  import: 6,
  'import-part': 7,
  place: 8,
  sync: 9,
  account: 10,
  erasure: 11,
};
const kindsByNumber = new Map(Object.entries(kindNumbers).map(([kind, number]) => [number, kind as ChangeKind]));

function keyOf(kind: ChangeKind, id: string): Buffer {
  const key = Buffer.allocUnsafe(1 + idBytes);
  key[0] = kindNumbers[kind];
  key.write(checkedId(id), 1, 'hex');
  return key;
}

interface Revisions {
  revisionOf(kind: ChangeKind, id: string): RecordRevision | undefined;
  /** Returns the bases for the next edit of the record: its revision, and the changes refused since. */
  bases(kind: ChangeKind, id: string): Base[];
  contested(limit: number): Contested[];
  /** Must be called at the beginning of a write transaction. */
  beginSync(): void;
  /**
   * Decides whether the change is applied, and records the outcome. Must run in a write transaction, before the change
   * is applied and after those before it.
   * @param held what `heldRevision` returns.
   */
  admitSync(
    change: { readonly kind: ChangeKind; readonly id: string; readonly isDeletion: boolean },
    origin: ChangeOrigin,
    held: number | null | undefined,
  ): EditOutcome;
  /**
   * Returns the revision that the stored record holds, as {@link RecordsWithRevision} does; undefined for other kinds.
   */
  heldRevision(kind: ChangeKind, id: string, firstVersion: number): number | null | undefined;
  /** Removes some of the deletions that have expired at `nowMs`. Must run in a write transaction. */
  forgetSync(nowMs: number): void;
  /** Removes all revisions, because they are offsets of a topic that was replaced. Must run in a write transaction. */
  clearSync(): void;
}

/** Kinds whose records hold their own revision, because there are many. */
interface RecordsWithRevision {
  /**
   * Returns the revision that the stored record holds: null if it does not know one; undefined if there is no record.
   * @param firstVersion the version of offset 0. Default: it is read.
   */
  revisionOf(id: Buffer, firstVersion?: number): number | null | undefined;
}

/** Opens the tables in a read model's file. */
export function openRevisions(
  root: RootDatabase,
  holders: Partial<Record<ChangeKind, RecordsWithRevision>> = {},
): Revisions {
  /**
   * By kind and id: revision, and the time of the deletion if the record is deleted. Stored records that hold their
   * revision are not in it.
   */
  const revisions = root.openDB<[number, number?], Buffer>('revisions', { keyEncoding: 'binary' });
  /** Deletions by time and key. */
  const deletions = root.openDB<true, [number, string]>('deletions', {});
  /** By kind and id: offsets of refused changes that no applied change names among its bases. */
  const refused = root.openDB<number[], Buffer>('refused', { keyEncoding: 'binary' });
  /** Whether the write transaction sees any entry of `refused`, which is nearly always empty. */
  let hasRefused = true;

  const revisionAt = (kind: ChangeKind, key: Buffer): RecordRevision | undefined =>
    revisionOfKey(key, holders[kind]?.revisionOf(key.subarray(1)));

  function revisionOfKey(key: Buffer, held: number | null | undefined): RecordRevision | undefined {
    if (held !== undefined) return held === null ? undefined : { revision: held, deletedAtMs: null };
    const stored = revisions.get(key);
    return stored && { revision: stored[0], deletedAtMs: stored[1] ?? null };
  }

  function setRevision(
    kind: ChangeKind,
    key: Buffer,
    before: RecordRevision | undefined,
    { offset, timestampMs }: ChangeOrigin,
    isDeletion: boolean,
  ): void {
    const wasDeleted = before !== undefined && before.deletedAtMs !== null;
    if (wasDeleted) deletions.removeSync([before.deletedAtMs, key.toString('hex')]);
    if (isDeletion) {
      deletions.putSync([timestampMs, key.toString('hex')], true);
      revisions.putSync(key, [offset, timestampMs]);
    } else if (holders[kind] === undefined) revisions.putSync(key, [offset]);
    else if (wasDeleted) revisions.removeSync(key);
  }

  return {
    revisionOf: (kind, id) => revisionAt(kind, keyOf(kind, id)),
    heldRevision: (kind, id, firstVersion) => holders[kind]?.revisionOf(idKey(id), firstVersion),
    bases(kind, id) {
      const key = keyOf(kind, id);
      const current = revisionAt(kind, key);
      return [
        ...(current ? [current.revision] : []),
        ...(current && current.deletedAtMs === null ? [] : (['absent'] as const)),
        ...(refused.get(key) ?? []),
      ];
    },
    contested: (limit) =>
      [...refused.getKeys({ limit })].map((key) => ({ kind: kindsByNumber.get(key[0]!)!, id: key.toString('hex', 1) })),

    beginSync() {
      hasRefused = [...refused.getKeys({ limit: 1 })].length > 0;
    },
    admitSync({ kind, id, isDeletion }, origin, held) {
      const key = keyOf(kind, id);
      const before = revisionOfKey(key, held);
      const open = hasRefused ? refused.get(key) : undefined;
      if (!isApplicable(before, origin)) {
        hasRefused = true;
        refused.putSync(key, [...(open ?? []), origin.offset]);
        return { kind: 'refused' };
      }
      setRevision(kind, key, before, origin, isDeletion);
      if (open) {
        // A read model that starts with the refused change applies this one too, if it names the refused one as a base.
        const left = origin.bases === null ? [] : open.filter((offset) => !origin.bases?.includes(offset));
        if (left.length > 0) refused.putSync(key, left);
        else refused.removeSync(key);
      }
      return { kind: 'applied', revision: origin.offset };
    },

    clearSync() {
      for (const table of [revisions, deletions, refused]) table.clearSync();
    },
    forgetSync(nowMs) {
      const past = deletions.getKeys({ end: [nowMs - forgottenAfterMs, ''], limit: maxForgottenAtOnce });
      for (const [atMs, name] of [...past]) {
        deletions.removeSync([atMs, name]);
        revisions.removeSync(Buffer.from(name, 'hex'));
      }
    },
  };
}
