/** Opens a catalog for a replay, over a read model in files without a name. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import { openReadModel, type ReadModel } from '../pipeline/catalog/store/read-model.js';
import type { Catalog, DecodedChange } from '../pipeline/catalog/types.js';

interface ReplayCatalog {
  readonly catalog: Catalog;
  close(): Promise<void>;
}

/**
 * Opens an empty read model, then removes the names of its files, which last as long as they are open. So nothing that
 * is applied to it is left, however the process ends.
 */
function openUnnamedReadModel(): ReadModel {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-replay-'));
  try {
    return openReadModel(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Applies the changes in order and opens a catalog over them. */
export async function openReplayCatalog(configured: AsyncIterable<readonly DecodedChange[]>): Promise<ReplayCatalog> {
  const readModel = openUnnamedReadModel();
  let offset = 0;
  for await (const changes of configured) await readModel.apply(changes, ++offset);
  const catalog = createCatalog(readModel);
  return {
    catalog,
    async close() {
      await catalog.close();
      await readModel.close();
    },
  };
}
