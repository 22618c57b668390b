/**
 * A process that uses chDB in a worker thread, over a remote, and ends in the way its second argument says: `close` on
 * SIGTERM, `exit` with the engine open, or `terminate` the worker first. Prints the number of rows once it is ready.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import type { ChdbAnalytics } from '../../../backends/embedded/analytics.js';
import '../../../backends/embedded/chdb-stays-loaded.js';
import { remote } from '../../../backends/embedded/remote.js';
import { namedRows } from '../../../schemas/testing/rows.js';

const [path, ending] = process.argv.slice(2) as [string, string];
const { port1, port2 } = new MessageChannel();
const worker = new Worker(new URL('./analytics-worker.js', import.meta.url), {
  workerData: { path, port: port2 },
  transferList: [port2],
});
const analytics = remote<ChdbAnalytics>(port1);

await analytics.command('CREATE TABLE IF NOT EXISTS numbers (n UInt64) ENGINE = MergeTree ORDER BY n');
await analytics.insert('numbers', namedRows(...Array.from({ length: 1000 }, (_, n) => ({ n }))));
const [row] = await analytics.query<{ rows: number }>('SELECT count() AS rows FROM numbers');
// Keeps the process alive until a signal, like a server.
const alive = setInterval(() => {}, 60_000);
process.once('SIGTERM', async () => {
  if (ending === 'exit') process.exit(0);
  if (ending === 'close') await analytics.close();
  await worker.terminate();
  clearInterval(alive);
});
console.log(`${row?.rows} rows`);
