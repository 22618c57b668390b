/** Reads a folder of LMDB as a whole, and ends. LMDB may end it by a signal where the file is damaged. */
import { readWhole } from '../../backends/embedded/whole-read.js';
import { isPortError } from '../../pipeline/errors.js';
import type { ReadResult } from './stored-data.js';

const [data, environment] = process.argv.slice(2);
if (data === undefined || environment === undefined) throw new TypeError('the folder to read is missing');
process.on('disconnect', () => process.exit(1));
const result: ReadResult = await readWhole(data, environment).then(
  (values) => ({ ok: true, values }),
  (error: Error) => ({ ok: false, reason: error.message, isInUse: isPortError(error, 'unavailable') }),
);
process.send?.(result, () => process.exit(0));
