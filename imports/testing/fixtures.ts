/** A real log, read model and writer with an importer, in a folder of their own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { followChanges } from '../../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../../pipeline/catalog/store/configuration-writer.js';
import { openReadModel } from '../../pipeline/catalog/store/read-model.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { createHeldLeases } from '../../pipeline/held-lease.js';
import { freshId } from '../../schemas/ids.js';
import type { ImportBounds, ImportRequest } from '../execution.js';
import { createImporter } from '../importer.js';

type Workbench = ReturnType<typeof openWorkbench>;

/** Yields a text as bytes, in chunks of the given size. */
export async function* bytesOf(text: string | Uint8Array, chunkBytes = 65_536): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
}

/** Returns the test environment of a new project, so that tests on one node do not meet. */
export const newScope = (): Scope => ({ project: freshId(), environment: 'test' });

function openWorkbench(bounds: Partial<ImportBounds> = {}, clock = Date.now) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-import-'));
  const embedded = openEmbedded({ path: join(folder, 'data'), mapBytes: 2 ** 30 });
  const readModel = openReadModel(join(folder, 'read-model'), { clock });
  const problems: unknown[] = [];
  const following = followChanges({ log: embedded.log, readModel, onProblem: (problem) => problems.push(problem) });
  const writer = createConfigurationWriter({ log: embedded.log, readModel, clock });
  const { values } = embedded;
  const parts = { configuration: readModel, writer, values, clock, geometrySources: {} };
  const leases = createHeldLeases(values);
  const importer = createImporter({ ...parts, leases, bounds });
  return {
    ...parts,
    leases,
    log: embedded.log,
    readModel,
    problems,
    importer,
    /** Another process's importer on the same stores. */
    otherImporter: () => createImporter({ ...parts, leases: createHeldLeases(values) }),
    import: (scope: Scope, text: string | Uint8Array, request: Partial<ImportRequest> = {}) =>
      importer.importRecords({
        scope,
        resource: 'geofence',
        source: bytesOf(text),
        format: 'csv',
        requestedBy: { kind: 'key', name: 'prj_test_sk_…cafe' },
        ...request,
      }),
    async close() {
      await importer.close();
      await following.close();
      await readModel.close();
      await embedded.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A workbench that is closed after the tests of the file. */
export function useWorkbench(bounds?: Partial<ImportBounds>, clock?: () => number): Workbench {
  const workbench = openWorkbench(bounds, clock);
  afterAll(() => workbench.close());
  return workbench;
}
