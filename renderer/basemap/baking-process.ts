/**
 * Bakes the default basemap into a folder, unless it exists, and ends: `node baking-process.js FOLDER`.
 *
 * Nodes start this process, and the build of the Docker image runs it. It takes some seconds of processor time at low
 * priority. Its 500 MB of memory return to the system when it ends.
 */
import { fileProblem } from '../../schemas/file-problem.js';
import { becomeHelper, yieldToOthers } from '../../schemas/helper-process.js';
import { prepareDefaultBasemap } from './bake.js';

// A map may be waiting.
yieldToOthers();
becomeHelper();
// The parent has ended. The next start bakes again.
process.on('disconnect', () => process.exit(1));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError('the folder to bake into is missing');
try {
  await prepareDefaultBasemap(folder);
} catch (error) {
  const isOfSystem = (error as NodeJS.ErrnoException).code !== undefined;
  if (!process.connected || !isOfSystem) throw error;
  await new Promise((resolve) => process.send?.(fileProblem(error), resolve));
  process.exit(1);
}
process.exit(0);
