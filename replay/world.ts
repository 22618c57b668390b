/** What locations are evaluated against: a view of its own in a temporary folder, and the catalog over it, as a node has them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import type { Catalog, DecodedChange } from '../pipeline/catalog/types.js';
import { openView } from '../pipeline/catalog/store/read-model.js';

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
  const view = openView(folder);
  let offset = 0;
  for await (const changes of configured) await view.apply(changes, ++offset);
  const catalog = createCatalog(view);
  return {
    catalog,
    async close() {
      await catalog.close();
      await view.close();
      remove();
      process.off('exit', remove);
    },
  };
}
