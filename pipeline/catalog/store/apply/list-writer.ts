/**
 * Writes the lists of geofences and beacons by time, by description and by external id.
 *
 * An entry of a list by time has the ids of all records with the same time, 12 bytes each, in ascending order. The rows
 * of an import share their times by the hundred, so a list takes few puts.
 */
import type { Database } from 'lmdb';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import { isSameScope } from '../../scope.js';
import type { ListedTimes, ListQuery, PreparedFence, Scope } from '../../types.js';
import {
  changedListKeys,
  idBytes,
  keyTime,
  type ListedKind,
  listPosition,
  noValue,
  orderPrefix,
} from '../tables/keys.js';

type Listed = GeofenceRecord | BeaconRecord;
type Index = Database<Buffer, Buffer>;

/** The entries of one time that a transaction changes, in the list of all records and in those of tags. */
interface ChangedTime {
  readonly kind: ListedKind;
  readonly orderBy: ListQuery['orderBy'];
  readonly scope: Scope;
  readonly timeMs: number;
  /** By tag, null for the list of all: ids that are added (true) and removed (false). */
  readonly lists: Map<string | null, Map<string, boolean>>;
}

/** Writes lists. The lists by time are written by `flushSync`, each entry once. */
export interface ListWriter {
  /** Moves a record from the lists of `before` to those of `after`. Must run in a write transaction. */
  relist(kind: ListedKind, before: Listed | undefined, after: Listed | null): void;
  /** Does the same for a prepared change. */
  relistPrepared(id: string, prepared: PreparedFence): void;
  /** Must be called at the end of the transaction. */
  flushSync(): void;
  /** Discards what a failed transaction has collected. */
  reset(): void;
}

const orders = ['createdAt', 'updatedAt'] as const;

/** The fields of a record that the lists by time need. */
type Timed = ListedTimes & Scope & { readonly _id: string };

const timed = ({ tag, createdAt, updatedAt }: ListedTimes, { project, environment }: Scope, _id: string): Timed => ({
  _id,
  project,
  environment,
  tag,
  createdAt,
  updatedAt,
});

const isSameTime = (one: Timed, other: Timed, orderBy: ListQuery['orderBy']): boolean =>
  keyTime(one[orderBy]) === keyTime(other[orderBy]) && isSameScope(one, other);

/** Creates the writer of an index. Times are milliseconds. */
export function createListWriter(index: Index): ListWriter {
  const changed = new Map<string, ChangedTime>();
  /** The last times that were used, those of most rows of an import: where records enter and where they leave. */
  const latest: Record<'entered' | 'left', Partial<Record<ListQuery['orderBy'], ChangedTime>>> = {
    entered: {},
    left: {},
  };

  function changedTime(kind: ListedKind, record: Timed, orderBy: ListQuery['orderBy'], isAdded: boolean): ChangedTime {
    const { project, environment } = record;
    const timeMs = keyTime(record[orderBy]);
    const latestTimes = latest[isAdded ? 'entered' : 'left'];
    const last = latestTimes[orderBy];
    if (last?.timeMs === timeMs && last.kind === kind && isSameScope(last.scope, record)) return last;
    const name = `${kind}/${project}/${environment}/${orderBy}/${timeMs}`;
    const found = changed.get(name) ?? { kind, orderBy, scope: { project, environment }, timeMs, lists: new Map() };
    changed.set(name, found);
    latestTimes[orderBy] = found;
    return found;
  }

  /** Notes that the record enters or leaves its lists by time, except those in which `other` has the same place. */
  function note(kind: ListedKind, record: Timed, other: Timed | null | undefined, isAdded: boolean): void {
    for (const orderBy of orders) {
      const isKept = other != null && isSameTime(record, other, orderBy);
      if (isKept && record.tag === other.tag) continue;
      const { lists } = changedTime(kind, record, orderBy, isAdded);
      for (const tag of record.tag === null ? [null] : [null, record.tag]) {
        if (tag === null && isKept) continue;
        const ids = lists.get(tag);
        if (ids) ids.set(record._id, isAdded);
        else lists.set(tag, new Map([[record._id, isAdded]]));
      }
    }
  }

  function flushEntry(key: Buffer, ids: ReadonlyMap<string, boolean>): void {
    const stored = index.get(key);
    const left: string[] = [];
    const text = stored?.toString('hex') ?? '';
    for (let at = 0; at < text.length; at += 2 * idBytes) {
      const id = text.slice(at, at + 2 * idBytes);
      if (!ids.has(id)) left.push(id);
    }
    for (const [id, isAdded] of ids) if (isAdded) left.push(id);
    if (left.length > 0) index.putSync(key, Buffer.from(left.sort().join(''), 'hex'));
    else if (stored !== undefined) index.removeSync(key);
  }

  function reset(): void {
    changed.clear();
    latest.entered = {};
    latest.left = {};
  }

  function move(kind: ListedKind, before: Timed | null | undefined, after: Timed | null): void {
    if (before) note(kind, before, after, false);
    if (after) note(kind, after, before, true);
  }

  function exchange({ removed, added }: Pick<PreparedFence, 'removed' | 'added'>): void {
    for (const key of removed) index.removeSync(key);
    for (const key of added) index.putSync(key, noValue);
  }

  return {
    relist(kind, before, after) {
      move(kind, before, after);
      exchange(changedListKeys(kind, before, after));
    },
    relistPrepared(id, prepared) {
      const { scope, before, after } = prepared;
      move('geofence', before && timed(before, scope, id), timed(after, scope, id));
      exchange(prepared);
    },
    flushSync() {
      for (const { kind, orderBy, scope, timeMs, lists } of changed.values()) {
        for (const [tag, ids] of lists) {
          flushEntry(listPosition(orderPrefix(kind, scope, orderBy, tag), timeMs), ids);
        }
      }
      reset();
    },
    reset,
  };
}
