/**
 * Imports a file, and prints one line of JSON. Arguments: folder, project, file, thread, and how many writes of rows
 * are let through.
 *
 * With a number the program stops after this many writes: it prints the import as the read model has it then, and waits
 * to be killed. Until then no further row is written, and the import is never told that its last write succeeded.
 * Without a number it prints the import that it found, how many geofences there were, and the import that it ran.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { createImporter, defaultImportBounds } from '../../../imports/importer.js';
import { geometryResolver } from '../../../imports/resources.js';
import { followChanges } from '../../../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../../../pipeline/catalog/store/configuration-writer.js';
import { openReadModel } from '../../../pipeline/catalog/store/read-model.js';
import type { EncodedWriter } from '../../../pipeline/catalog/types.js';
import { createHeldLeases } from '../../../pipeline/held-lease.js';
import { createImportThread } from '../../../server/threads/import-host.js';

const [folder, project, path, where, writes] = process.argv.slice(2) as [string, string, string, string, string?];
const scope = { project, environment: 'live' } as const;

const { log, values } = openEmbedded({ path: join(folder, 'data') });
const readModelFolder = join(folder, 'read-model');
const readModel = openReadModel(readModelFolder);
const onProblem = ({ reason }: { reason: string }): void => {
  throw new Error(reason);
};
followChanges({ log, readModel, onProblem });
const whole = createConfigurationWriter({ log, readModel });
await whole.catchUp();

const newest = () => readModel.imports.list({ ...scope, resource: 'geofences', limit: 1 }).items[0];
const print = (value: unknown): void => console.log(JSON.stringify(value));
const never = new Promise<never>(() => setInterval(() => {}, 60_000));

/** Counts the writes that carry rows: the first one has only the import's record. */
function stopping(writer: EncodedWriter, letThrough: number): EncodedWriter {
  let begun = 0;
  const guarded =
    <Change>(write: (changes: readonly Change[]) => Promise<Awaited<ReturnType<EncodedWriter['write']>>>) =>
    async (changes: readonly Change[]) => {
      if (changes.length === 1) return write(changes);
      begun += 1;
      const mine = begun;
      if (mine > letThrough) return never;
      const outcomes = await write(changes);
      if (mine < letThrough) return outcomes;
      print(newest());
      return never;
    };
  return { ...writer, write: guarded(writer.write), writeEncoded: guarded(writer.writeEncoded) };
}

const writer = writes === undefined ? whole : stopping(whole, Number(writes));
const leases = createHeldLeases(values, { isOnlyNode: true });
const parts = { configuration: readModel, writer, values, leases, geometrySources: {}, clock: Date.now };
const thread = createImportThread(
  { readModelFolder, writer, resolve: geometryResolver(parts), onFailure: print },
  defaultImportBounds,
);
const importer = createImporter({ ...parts, ...(where === 'thread' && { thread }) });
const earlier = newest();
const found = earlier && { ...earlier, status: await importer.statusOf(earlier) };
let geofences = 0;
for (let from: string | null = null, isMore = true; isMore; isMore = from !== null) {
  const { items, next } = readModel.walkGeofences(scope, from, 1_000);
  geofences += items.length;
  from = next;
}
const imported = await importer.importRecords({
  scope,
  resource: 'geofence',
  source: { path },
  bytesTotal: statSync(path).size,
  format: 'csv',
  requestedBy: { kind: 'key', name: 'test' },
});
print({ found, geofences, imported });
process.exit(0);
