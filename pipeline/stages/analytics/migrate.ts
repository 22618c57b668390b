/**
 * Migrates the analytics tables. Each `.sql` file of a folder is one statement, applied once, in order of file names.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Rows, TextColumn, TimeColumn } from '../../../schemas/native.js';
import type { Analytics } from '../../ports.js';
import { onCluster } from './on-cluster.js';

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (name String, applied_at DateTime64(3, 'UTC'))
  ENGINE = ReplacingMergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Location of the tables. */
interface TablesPlace {
  readonly database: string;
  /** Name of a cluster in ClickHouse's configuration; absent: one server. */
  readonly cluster?: string;
}

/**
 * Applies the files that are not recorded yet and returns their names. They are recorded together after they ran, and
 * several processes may migrate at once, so statements must be idempotent. A process that applies a file applies all
 * later ones, even if another process has recorded them meanwhile: a view that several files define ends as the last
 * one defines it.
 */
export async function migrate(analytics: Analytics, sqlFolder: string, place?: TablesPlace): Promise<string[]> {
  const apply = async (statement: string): Promise<void> => {
    for (const each of statementsFor(statement, place)) await analytics.command(each);
  };
  // Avoids a statement when up to date: statements wait for every server of a cluster, and a node must be able to start
  // while one is down.
  const [found] = await analytics.query<{ result: number }>('EXISTS TABLE schema_migrations');
  if (!found?.result) await apply(migrationsTable);
  const rows = await analytics.query<{ name: string }>('SELECT name FROM schema_migrations FINAL');
  const recorded = new Set(rows.map(({ name }) => name));
  const due = (await readdir(sqlFolder)).filter((name) => name.endsWith('.sql') && !recorded.has(name)).sort();
  const applied = new Rows({ name: new TextColumn(), applied_at: new TimeColumn() });
  try {
    for (const name of due) {
      await apply(await readFile(join(sqlFolder, name), 'utf8'));
      applied.columns.name.add(name);
      applied.columns.applied_at.add(Date.now());
      applied.endRow();
    }
  } finally {
    if (applied.size > 0) await analytics.insert('schema_migrations', applied.take().rows);
  }
  return due;
}

const statementsFor = (statement: string, place: TablesPlace | undefined): string[] =>
  place?.cluster === undefined ? [statement] : onCluster(statement, { name: place.cluster, database: place.database });
