/** Holds the lock of a folder, as a node does, prints a line, and exits on SIGTERM. Argument: the folder. */
import { join } from 'node:path';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { takeLock } from '../../../backends/embedded/folder-lock.js';
import { writesIn } from '../../../backends/embedded/held-writes.js';

const [path] = process.argv.slice(2) as [string];
process.once('SIGTERM', () => process.exit(0));

const lock = await takeLock(path);
const { environments } = openEmbedded({ path, partitions: 1 });
const folders = Object.keys(environments).map((name) => join(path, name));
lock!.serve({ holdWrites: writesIn(folders, () => {}), calls: {} });
console.log('ready');
// Neither the lock nor the open files keep the process running.
setInterval(() => {}, 60_000);
