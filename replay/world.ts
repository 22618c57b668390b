/**
 * What locations are evaluated against: a read model of its own in a temporary folder, and the catalog over it, as a
 * node has them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import { openReadModel } from '../pipeline/catalog/store/read-model.js';
import type { Catalog, DecodedChange } from '../pipeline/catalog/types.js';

export interface World {
  readonly catalog: Catalog;
  /** Removes the folder, as does the end of the process. */
  close(): Promise<void>;
}

/** A world of these things, applied in the order in which they come. */
export async function createWorld(configured: AsyncIterable<readonly DecodedChange[]>): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-replay-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const readModel = openReadModel(folder);
  let offset = 0;
  for await (const changes of configured) await readModel.apply(changes, ++offset);
  const catalog = createCatalog(readModel);
  return {
    catalog,
    async close() {
      await catalog.close();
      await readModel.close();
      remove();
      process.off('exit', remove);
    },
  };
}
