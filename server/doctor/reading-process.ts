/** Reads a folder of LMDB as a whole, and ends. LMDB may end it by a signal where the file is damaged. */
import { readWhole } from '../../backends/embedded/whole-read.js';
import type { ReadResult } from './stored-data.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError('the folder to read is missing');
process.on('disconnect', () => process.exit(1));
const result: ReadResult = await readWhole(folder).then(
  (values) => ({ ok: true, values }),
  ({ message }: Error) => ({ ok: false, reason: message }),
);
process.send?.(result, () => process.exit(0));
