/** Finds and deletes the rows of erased users, events and projects. */
import type { Scope } from '../../catalog/types.js';
import type { Analytics } from '../../ports.js';
import * as statements from './statements.js';

/** Devices that are read from ClickHouse at once. */
const maxDevicesAtOnce = 5_000;

/** The tables of the erased rows. */
export interface RowsParts {
  readonly analytics: Pick<Analytics, 'query' | 'command'>;
  /** As of the tables' migration. */
  readonly cluster?: string | undefined;
  /** Ends a deletion between two statements, cancels queries, and lets no statement that fails be repeated. */
  readonly ending: AbortSignal;
}

/** Finds and deletes rows of analytics. A deletion that failed or was ended may be repeated. */
export interface Rows {
  /** Yields the user records of targets in pages. */
  findUsers(scope: Scope, users: readonly statements.Target[]): AsyncIterable<readonly statements.FoundUser[]>;
  /** Yields the known devices of an environment in pages. */
  findDevices(scope: Scope): AsyncIterable<readonly string[]>;
  /** Deletes the rows of users and events. Returns false if it was ended before it looked for all. */
  erase(
    scope: Scope,
    users: readonly statements.Target[],
    ids: readonly string[],
    events: readonly string[],
  ): Promise<boolean>;
  /** Deletes the rows of an environment. Returns false if it was ended before it looked for all. */
  eraseAll(scope: Scope, tables: readonly string[]): Promise<boolean>;
}

type Condition = readonly [table: string, condition: string];

/** Creates the deletion of rows. Rows are found in groups, so that no query returns all devices of a project. */
export function createRows({ analytics, cluster, ending }: RowsParts): Rows {
  async function* findUsers(scope: Scope, users: readonly statements.Target[]) {
    for (const group of statements.groupedTargets(users)) {
      let after: statements.FoundUser | undefined;
      do {
        const query = statements.usersQuery(scope, group, after, maxDevicesAtOnce);
        const found: statements.FoundUser[] = await analytics.query<statements.FoundUser>(query, {}, ending);
        yield found;
        after = found.length < maxDevicesAtOnce ? undefined : found.at(-1);
      } while (after !== undefined);
    }
  }

  async function* findDevices(scope: Scope) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const query = statements.devicesQuery(scope, after, maxDevicesAtOnce);
      const devices = (await analytics.query<{ device_id: string }>(query, {}, ending)).map(
        ({ device_id }) => device_id,
      );
      yield devices;
      after = devices.at(-1);
    }
  }

  async function deleteFound(conditions: readonly Condition[]): Promise<boolean> {
    for (const [table, condition] of conditions) {
      if (ending.aborted) return false;
      const count = `SELECT count() AS n FROM ${table} WHERE ${condition}`;
      const [found] = await analytics.query<{ n: number }>(count, {}, ending);
      if (found && found.n > 0) await analytics.command(statements.deleteRows(table, condition, cluster), ending);
    }
    return true;
  }

  return {
    findUsers,
    findDevices,
    erase(scope, users, ids, events) {
      const rows: (readonly [table: string, conditions: string[]])[] = [
        ...statements.userTables.map((table) => [table, statements.userRows(scope, table, users, ids)] as const),
        ['webhook_attempts', statements.attemptRows(scope, users, ids)],
        ['events', statements.eventRows(scope, events)],
        ['webhook_attempts', statements.attemptRowsOfEvents(scope, events)],
      ];
      return deleteFound(rows.flatMap(([table, conditions]) => conditions.map((each) => [table, each] as const)));
    },
    eraseAll: (scope, tables) => deleteFound(tables.map((table) => [table, statements.inScope(scope)])),
  };
}
