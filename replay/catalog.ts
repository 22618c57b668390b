/**
 * Opens a catalog for a replay, over a read model in a temporary directory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import { openReadModel } from '../pipeline/catalog/store/read-model.js';
import type { Catalog, DecodedChange } from '../pipeline/catalog/types.js';
import { tidyOnExit } from '../schemas/tidy-on-exit.js';

interface ReplayCatalog {
  readonly catalog: Catalog;
  /** Removes the directory. The end of the process removes it too. */
  close(): Promise<void>;
}

/** Applies the changes in order and opens a catalog over them. */
export async function openReplayCatalog(
  configured: AsyncIterable<readonly DecodedChange[]>,
  folder = mkdtempSync(join(tmpdir(), 'fenceline-replay-')),
): Promise<ReplayCatalog> {
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const release = tidyOnExit(remove);
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
      release();
    },
  };
}
