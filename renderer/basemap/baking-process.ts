/**
 * Bakes the default basemap into the folder that its argument names, unless it is there, and ends: `node
 * baking-process.js FOLDER`.
 *
 * A node starts it beside itself, and the build of the image runs it. It takes some seconds of a processor, at the low
 * priority of drawing, and
 * 500 MB of memory, which the system has back when it ends.
 */
import { setPriority } from 'node:os';
import { prepareDefaultBasemap } from './bake.js';

/** As of those that draw: a map may be waiting for it. */
const niceness = 5;

try {
  setPriority(niceness);
} catch {
  // Not every system lets a process say so.
}
// Whoever started it is gone: another start bakes again.
process.on('disconnect', () => process.exit(1));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError('the folder to bake into is missing');
await prepareDefaultBasemap(folder);
process.exit(0);
