/**
 * Caches all records of a kind in memory, for kinds of which few change. After a change, only what changed is read
 * again.
 */
import { groupedBy } from '../../../../schemas/groups.js';
import type { Scope } from '../../types.js';

/** Where the records of a cache come from. */
export interface RecordSource<T> {
  /** Changes with every change of the kind. */
  version(): number;
  /** Returns ids of the records that changed after a version; undefined if nobody knows. */
  changedSince(version: number): ReadonlySet<string> | undefined;
  find(id: string): T | undefined;
  all(): Iterable<T>;
}

interface CachedRecord {
  readonly _id: string;
}

/** Records that have changed, as they are now. Ids without a record are deleted. */
interface Changed<T> {
  readonly ids: ReadonlySet<string>;
  readonly records: readonly T[];
}

const compareIds = (a: CachedRecord, b: CachedRecord): number => (a._id < b._id ? -1 : 1);

/**
 * Creates a function that reads what has changed since its last call.
 * @param load gets all records, at first and when nobody knows what changed.
 * @param replace gets the records that changed.
 */
function createRefresh<T>(
  { version, changedSince, find, all }: RecordSource<T>,
  load: (records: Iterable<T>) => void,
  replace: (changed: Changed<T>) => void,
): () => void {
  let read = -1;
  return () => {
    const current = version();
    if (current === read) return;
    const ids = read < 0 ? undefined : changedSince(read);
    read = current;
    if (ids === undefined) load(all());
    else replace({ ids, records: [...ids].flatMap((id) => find(id) ?? []) });
  };
}

/**
 * Creates a cache of records, by id. Returns a function that returns them. A record stays the same object until it
 * changes, and the array until one of them does.
 */
export function createCachedRecords<T extends CachedRecord>(source: RecordSource<T>): () => readonly T[] {
  let records: readonly T[] = [];
  const refresh = createRefresh(
    source,
    (all) => {
      records = [...all].sort(compareIds);
    },
    (changed) => {
      records = [...records.filter(({ _id }) => !changed.ids.has(_id)), ...changed.records].sort(compareIds);
    },
  );
  return () => {
    refresh();
    return records;
  };
}

interface ScopedRecord extends CachedRecord, Scope {
  readonly createdAt: number;
}

interface ScopedRecords<T> {
  /** Lists records, oldest first. Returns the same array until a record of the scope changes. */
  list(scope: Scope): readonly T[];
  find(scope: Scope, id: string): T | undefined;
  /** Lists the records of all scopes. Returns the same array until one of them changes. */
  all(): readonly T[];
}

const scopeName = ({ project, environment }: Scope): string => `${project}/${environment}`;
const none: readonly never[] = [];

/** Creates a cache of records by scope. For kinds of which a scope has few. */
export function createScopedRecords<T extends ScopedRecord>(source: RecordSource<T>): ScopedRecords<T> {
  let byId = new Map<string, T>();
  let lists = new Map<string, readonly T[]>();
  let every: readonly T[] | undefined;

  function load(records: Iterable<T>): void {
    lists = listsOf(records);
    byId = new Map([...lists.values()].flat().map((record) => [record._id, record]));
    every = undefined;
  }

  function replace({ ids, records }: Changed<T>): void {
    const before = [...ids].flatMap((id) => byId.get(id) ?? []);
    const after = listsOf(records);
    for (const scope of new Set([...before.map(scopeName), ...after.keys()])) {
      const kept = (lists.get(scope) ?? none).filter(({ _id }) => !ids.has(_id));
      const list = oldestFirst([...kept, ...(after.get(scope) ?? none)]);
      if (list.length > 0) lists.set(scope, list);
      else lists.delete(scope);
    }
    for (const { _id } of before) byId.delete(_id);
    for (const record of records) byId.set(record._id, record);
    every = undefined;
  }

  const refresh = createRefresh(source, load, replace);

  return {
    list(scope) {
      refresh();
      return lists.get(scopeName(scope)) ?? none;
    },
    find(scope, id) {
      refresh();
      const record = byId.get(id);
      return record && scopeName(record) === scopeName(scope) ? record : undefined;
    },
    all() {
      refresh();
      every ??= [...lists.values()].flat();
      return every;
    },
  };
}

function oldestFirst<T extends ScopedRecord>(records: T[]): T[] {
  return records.sort((a, b) => a.createdAt - b.createdAt || compareIds(a, b));
}

function listsOf<T extends ScopedRecord>(records: Iterable<T>): Map<string, T[]> {
  const lists = groupedBy(records, scopeName);
  for (const list of lists.values()) oldestFirst(list);
  return lists;
}
