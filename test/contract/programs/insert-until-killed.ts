/**
 * Inserts rows into chDB and prints the number that were acknowledged, until it is killed. Arguments: folder, first
 * number.
 */
import { writeSync } from 'node:fs';
import { openChdbAnalytics } from '../../../backends/embedded/analytics.js';
import { namedRows } from '../../../schemas/testing/rows.js';

const [path, first] = process.argv.slice(2) as [string, string];
const analytics = await openChdbAnalytics({ path });
await analytics.command(
  `CREATE TABLE IF NOT EXISTS numbers (n UInt64, text String)
    ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1`,
);
for (let n = Number(first); ; n += 500) {
  const rows = Array.from({ length: 500 }, (_, i) => ({ n: n + i, text: `number ${n + i}` }));
  await analytics.insert('numbers', namedRows(...rows));
  writeSync(1, `${n + 499}\n`);
}
