/** Ends in the middle of a transaction, or beside one: `node ends-while-writing.js FOLDER within|outside`. Status 3. */

import { openEnvironment } from '../../../backends/embedded/environment.js';
import { endForSure } from '../../../server/end-for-sure.js';

const [path, where] = process.argv.slice(2) as [string, string];
endForSure();
const environment = openEnvironment({ path, mapBytes: 2 ** 20, syncBeforeVisible: true });
const table = environment.table('any');
await environment.transaction(() => table.putSync(Buffer.from('key'), Buffer.from('value')));
if (where === 'outside') process.exit(3);
void environment.transaction(() => process.exit(3));
