/** Exits with status 3 within or outside of a transaction: `node ends-while-writing.js FOLDER within|outside`. */
import { openEnvironment } from '../../../backends/embedded/environment.js';
import { endForSure } from '../../../server/end-for-sure.js';

const [path, where] = process.argv.slice(2) as [string, string];
endForSure();
const environment = openEnvironment({ path, mapBytes: 2 ** 20, syncBeforeVisible: true });
const table = environment.table('any');
await environment.transaction(() => table.putSync(Buffer.from('key'), Buffer.from('value')));
if (where === 'outside') process.exit(3);
void environment.transaction(() => process.exit(3));
