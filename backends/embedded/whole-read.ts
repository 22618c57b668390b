/** Reads a whole LMDB file, to find damage that its beginning does not show. */
import { join } from 'node:path';
import { Page, readBlock } from './blocks.js';
import { readNamed } from './damage.js';
import { openInFolder } from './environment.js';
import { offsetKey, offsetOfKey } from './keys.js';

const bytesOfBlockKey = offsetKey(0, 0).length;

/** Tables whose values are blocks, and not what a compacted topic notes about its records. */
const isTopic = (table: string): boolean => /^topic:[^:]+$/.test(table);

/**
 * Reads every key and value of every table of an environment in the data folder, and takes the blocks of topics apart.
 * Returns the number of values. Writes nothing but an entry in the table of readers.
 *
 * Throws where LMDB or a block is damaged. Damage of pages may also end the process by a signal, so call it in a
 * process of its own. LMDB has no checksums: content that is changed but readable is not found.
 */
export async function readWhole(data: string, environment: string): Promise<number> {
  const root = await openInFolder(data, environment);
  let values = 0;
  try {
    for (const name of [...root.getKeys()].map(String)) {
      const table = root.openDB<Buffer, Buffer>(name, { keyEncoding: 'binary', encoding: 'binary' });
      for (const { key, value } of table.getRange({})) {
        values += 1;
        if (isTopic(name) && key.length === bytesOfBlockKey)
          readNamed(join(data, environment), () => readEnd(value, key));
      }
    }
  } finally {
    await root.close();
  }
  return values;
}

const readEnd = (block: Buffer, key: Buffer): number =>
  readBlock(block, 0, offsetOfKey(key), 0, new Page(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
