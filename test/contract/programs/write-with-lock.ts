/**
 * Holds the lock of a folder, as a node does, and writes numbered records to both kinds of files until SIGTERM. Prints
 * a line when it begins, and at the end the number of acknowledged records. Argument: the folder.
 */
import { join } from 'node:path';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { takeLock } from '../../../backends/embedded/folder-lock.js';
import { writesIn } from '../../../backends/embedded/held-writes.js';

const [path] = process.argv.slice(2) as [string];
let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});

const lock = await takeLock(path);
const { log, close, environments } = openEmbedded({ path, partitions: 1 });
const folders = Object.keys(environments).map((name) => join(path, name));
lock!.serve({ holdWrites: writesIn(folders, () => {}), calls: {} });
let acknowledged = 0;
for (; !isEnding; acknowledged++) {
  const records = [{ key: 'key', value: Buffer.from(`${acknowledged}`) }];
  await Promise.all([log.append('locations', records), log.append('events', records)]);
  if (acknowledged === 0) console.log('begun');
}
await close();
console.log(`${acknowledged}`);
