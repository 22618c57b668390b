/** Brings the analytics tables up to date: each `.sql` file of a folder is one statement, applied once, in the order of the names. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Analytics } from '../../ports.js';
import { rowText, text, time } from './tsv.js';

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (name String, applied_at DateTime64(3, 'UTC'))
  ENGINE = ReplacingMergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Applies what is not recorded yet and answers the names applied. A file is recorded after it ran: statements must bear a repeat. */
export async function migrate(analytics: Analytics, sqlFolder: string): Promise<string[]> {
  await analytics.command(migrationsTable);
  const rows = await analytics.query<{ name: string }>('SELECT name FROM schema_migrations FINAL');
  const recorded = new Set(rows.map(({ name }) => name));
  const due = (await readdir(sqlFolder)).filter((name) => name.endsWith('.sql') && !recorded.has(name)).sort();
  for (const name of due) {
    await analytics.command(await readFile(join(sqlFolder, name), 'utf8'));
    await analytics.insert('schema_migrations', rowText(['name', 'applied_at'], [`${text(name)}\t${time(Date.now())}`]));
  }
  return due;
}
