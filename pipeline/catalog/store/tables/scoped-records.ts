/** Caches the records of a kind by scope until one of the kind changes. For kinds of which a scope has few. */
import type { Scope } from '../../types.js';

interface ScopedRecord extends Scope {
  readonly _id: string;
  readonly createdAt: number;
}

interface ScopedRecords<T> {
  /** Lists records, oldest first. Returns the same array until a record of the kind changes in any scope. */
  list(scope: Scope): readonly T[];
  find(scope: Scope, id: string): T | undefined;
  /** Lists the records of all scopes. */
  all(): readonly T[];
}

const scopeName = ({ project, environment }: Scope): string => `${project}/${environment}`;
const none: readonly never[] = [];

/** Creates the cache. `version` changes with every change of the kind; `everyRecord` reads all records. */
export function createScopedRecords<T extends ScopedRecord>(
  version: () => number,
  everyRecord: () => Iterable<T>,
): ScopedRecords<T> {
  let lists = new Map<string, T[]>();
  let every: readonly T[] = none;
  let listsVersion = -1;

  function refresh(): void {
    const current = version();
    if (current === listsVersion) return;
    listsVersion = current;
    lists = listsOf(everyRecord());
    every = [...lists.values()].flat();
  }

  function list(scope: Scope): readonly T[] {
    refresh();
    return lists.get(scopeName(scope)) ?? none;
  }

  function all(): readonly T[] {
    refresh();
    return every;
  }
  return { list, all, find: (scope, id) => list(scope).find(({ _id }) => _id === id) };
}

function listsOf<T extends ScopedRecord>(records: Iterable<T>): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const record of records) {
    const list = lists.get(scopeName(record));
    if (list) list.push(record);
    else lists.set(scopeName(record), [record]);
  }
  for (const list of lists.values()) list.sort((a, b) => a.createdAt - b.createdAt);
  return lists;
}
