/** Opens the log of a folder again and again, as commands do beside a node. Arguments: the folder, how often. */
import { openLogReader } from '../../../backends/embedded/reader.js';

const [path, count] = process.argv.slice(2) as [string, string];
for (let opened = 0; opened < Number(count); opened++) {
  const reader = await openLogReader(path);
  await reader.bounds('locations', 0);
  await reader.close();
}
