/**
 * Which edits count: the log decides, so that all read models agree.
 *
 * An edit names its bases: the revisions of its record that it has taken into account. It is applied only where the
 * record still stands at one
 * of them; else it is refused and changes nothing. A record's revision is the offset of the change that it was last
 * applied by. Pure, but for the
 * two tables in which a read model remembers. See docs/decisions/020.
 */
import { randomUUID } from 'node:crypto';
import type { RootDatabase } from 'lmdb';
import type { ChangeKind } from '../../../schemas/records.js';
import type { LogRecord, RecordHeaders } from '../../ports.js';
import { idKey } from './keys.js';

/**
 * A revision that an edit accepts as its base; `absent`: nothing has ever stood there, or it was deleted so long
 * ago that nobody remembers.
 */
export type Base = number | 'absent';

/** Where a change stands in the log, and what it says of itself. */
export interface ChangeOrigin {
  readonly offset: number;
  /** Epoch ms of the append. */
  readonly timestampMs: number;
  /** Finds the outcome of an edit; null for changes of older releases. */
  readonly edit: string | null;
  /** Null: it is applied whatever stands there. */
  readonly bases: readonly Base[] | null;
}

export type EditOutcome = { readonly kind: 'applied'; readonly revision: number } | { readonly kind: 'refused' };

/** How a record stands: since which offset, and since when it is deleted, if it is. */
export interface Standing {
  readonly revision: number;
  readonly deletedAtMs: number | null;
}

const dayMs = 24 * 60 * 60 * 1_000;
/**
 * For how long a deletion is remembered, by the log's time: as long as the topic keeps it. An edit that did not know
 * of it, and comes later, would bring the
 * record back.
 */
const deletionsRememberedMs = 30 * dayMs;
/** Read models forget later than they decide to have forgotten: so all decide alike. */
const forgottenAfterMs = deletionsRememberedMs + dayMs;
const maxForgottenAtOnce = 1_000;

/**
 * Decides whether a change is applied where `standing` is how its record stands; undefined where nothing is known
 * of it.
 */
export function isApplicable(standing: Standing | undefined, { bases, timestampMs }: ChangeOrigin): boolean {
  if (bases === null || standing === undefined) return true;
  const { revision, deletedAtMs } = standing;
  // A base that is newer than all that was seen of the record: compaction has removed what came between.
  if (bases.some((base) => base !== 'absent' && base >= revision)) return true;
  return bases.includes('absent') && deletedAtMs !== null && timestampMs - deletedAtMs > deletionsRememberedMs;
}

const editHeader = 'edit';
const basesHeader = 'bases';

/** Makes an id that finds the outcome of an edit. */
export const newEditId = (): string => randomUUID();

export const editHeaders = (edit: string, bases: readonly Base[] | undefined): RecordHeaders => ({
  [editHeader]: edit,
  ...(bases && { [basesHeader]: bases.join(',') }),
});

/** Reads what {@link editHeaders} wrote. Bases that can't be read match nothing. */
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

/** A record whose newest changes were refused: compaction would keep them and drop the one that counts. */
export interface Contested {
  readonly kind: ChangeKind;
  readonly id: string;
}

/** The edits of this process whose outcome somebody waits for. */
export class AwaitedEdits {
  readonly #waiting = new Map<string, { resolve: (outcome: EditOutcome) => void; reject: (error: Error) => void }>();

  /**
   * Resolves with the outcome; rejects when the change can't be understood. To be asked before the edit is
   * appended.
   */
  outcome(edit: string): Promise<EditOutcome> {
    return new Promise((resolve, reject) => this.#waiting.set(edit, { resolve, reject }));
  }

  settle(edit: string, outcome: EditOutcome): void {
    this.#waiting.get(edit)?.resolve(outcome);
  }

  fail(edit: string, error: Error): void {
    this.#waiting.get(edit)?.reject(error);
  }

  forget(edit: string): void {
    this.#waiting.delete(edit);
  }
}

const kinds: readonly ChangeKind[] = ['project', 'geofence', 'beacon', 'webhook', 'map-style', 'map-marker'];

const keyOf = (kind: ChangeKind, id: string): Buffer => Buffer.concat([Buffer.of(kinds.indexOf(kind)), idKey(id)]);

export interface Revisions {
  standing(kind: ChangeKind, id: string): Standing | undefined;
  /** For the next edit of the record: its revision, and the changes that were refused since. */
  bases(kind: ChangeKind, id: string): Base[];
  contested(limit: number): Contested[];
  /** Decides whether the change is applied and remembers the outcome. Must run in a write transaction. */
  admitSync(change: { kind: ChangeKind; id: string; isDeletion: boolean }, origin: ChangeOrigin): EditOutcome;
  /** Forgets deletions that are long past at `nowMs`, some at a time. Must run in a write transaction. */
  forgetSync(nowMs: number): void;
  /** Forgets all: revisions are offsets of a topic that is another one now. Must run in a write transaction. */
  clearSync(): void;
}

/** Opens the tables in a read model's file. */
export function openRevisions(root: RootDatabase): Revisions {
  /** Kind and id: revision, and time of the deletion where it is one. */
  const standings = root.openDB<[number, number?], Buffer>('revisions', { keyEncoding: 'binary' });
  /** Time and key of deletions. */
  const deletions = root.openDB<true, [number, string]>('deletions', {});
  /** Kind and id: offsets of changes that were refused and that no applied one has named among its bases. */
  const refused = root.openDB<number[], Buffer>('refused', { keyEncoding: 'binary' });

  function standingAt(key: Buffer): Standing | undefined {
    const stored = standings.get(key);
    return stored && { revision: stored[0], deletedAtMs: stored[1] ?? null };
  }

  function stand(
    key: Buffer,
    before: Standing | undefined,
    { offset, timestampMs }: ChangeOrigin,
    isDeletion: boolean,
  ): void {
    const name = key.toString('hex');
    if (before && before.deletedAtMs !== null) deletions.removeSync([before.deletedAtMs, name]);
    if (isDeletion) deletions.putSync([timestampMs, name], true);
    standings.putSync(key, isDeletion ? [offset, timestampMs] : [offset]);
  }

  return {
    standing: (kind, id) => standingAt(keyOf(kind, id)),
    bases(kind, id) {
      const key = keyOf(kind, id);
      const standing = standingAt(key);
      return [
        ...(standing ? [standing.revision] : []),
        ...(standing && standing.deletedAtMs === null ? [] : (['absent'] as const)),
        ...(refused.get(key) ?? []),
      ];
    },
    contested: (limit) =>
      [...refused.getKeys({ limit })].map((key) => ({ kind: kinds[key[0]!]!, id: key.toString('hex', 1) })),

    admitSync({ kind, id, isDeletion }, origin) {
      const key = keyOf(kind, id);
      const before = standingAt(key);
      const open = refused.get(key);
      if (!isApplicable(before, origin)) {
        refused.putSync(key, [...(open ?? []), origin.offset]);
        return { kind: 'refused' };
      }
      stand(key, before, origin, isDeletion);
      if (open) {
        // An applied change that names a refused one among its bases is applied too by a read model that begins with
        // the refused one.
        const left = origin.bases === null ? [] : open.filter((offset) => !origin.bases?.includes(offset));
        if (left.length > 0) refused.putSync(key, left);
        else refused.removeSync(key);
      }
      return { kind: 'applied', revision: origin.offset };
    },

    clearSync() {
      for (const table of [standings, deletions, refused]) table.clearSync();
    },
    forgetSync(nowMs) {
      const past = deletions.getKeys({ end: [nowMs - forgottenAfterMs, ''], limit: maxForgottenAtOnce });
      for (const [atMs, name] of [...past]) {
        deletions.removeSync([atMs, name]);
        standings.removeSync(Buffer.from(name, 'hex'));
      }
    },
  };
}
