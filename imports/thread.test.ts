/**
 * Rows that the import thread prepares are stored exactly as if the log had been decoded, also after other edits of the
 * same records meanwhile.
 */
import fc from 'fast-check';
import { open } from 'lmdb';
import { expect, it, onTestFinished } from 'vitest';
import type { GivenGeofence } from '../api/geofences/fields.js';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { followChanges } from '../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../pipeline/catalog/store/configuration-writer.js';
import { openReadModel } from '../pipeline/catalog/store/read-model.js';
import { geofenceRecord, scopes, temporaryFolder } from '../pipeline/catalog/testing/fixtures.js';
import type { ConfigurationChange } from '../pipeline/catalog/types.js';
import { fieldError } from '../schemas/errors.js';
import { deriveId } from '../schemas/ids.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import { propertyRuns } from '../schemas/testing/property-runs.js';
import { copiedOutcome, packChanges, remoteResolver, unpackChanges } from './thread.js';

const tables = ['geofences', 'lists', 'outdatedGeofences', 'expiries', 'revisions', 'deletions', 'refused'];

/** Returns all entries of the tables that hold geofences. */
function contentsOf(path: string): string[] {
  const root = open({ path, maxDbs: 64, readOnly: true });
  root.resetReadTxn();
  return tables.flatMap((name) => {
    const table = root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary' });
    return [...table.getRange()].map(({ key, value }) => `${name} ${key.toString('hex')} ${value.toString('hex')}`);
  });
}

const square = (size: number): GeofenceRecord['ring'] => [
  [10, 50],
  [10 + size, 50],
  [10 + size, 50 + size],
  [10, 50],
];
const place = { id: 'p', geometryHash: deriveId('a'), type: 'circle' as const, radius: 100 };
const geofence = fc.record({
  tag: fc.constantFrom('shop', 'park'),
  description: fc.constantFrom('A shop', 'Ein Café', 'line\nbreak', 'x'.repeat(100)),
  createdAt: fc.constantFrom(1_000, 2_000),
  updatedAt: fc.constantFrom(1_000, 2_000, 3_000),
  ring: fc.constantFrom(null, square(1), square(2)),
  deleteAfter: fc.constantFrom(null, null, null, 4e12),
  enabled: fc.boolean(),
  geometrySource: fc.constantFrom(undefined, undefined, undefined, { place }),
});
const step = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  scope: fc.constantFrom(...scopes.slice(0, 2)),
  fields: fc.option(geofence, { freq: 6 }),
  /** Stored by the import thread, which read the record some steps ago, or by another edit. */
  by: fc.constantFrom('import' as const, 'import' as const, 'stale import' as const, 'other' as const),
  isWritten: fc.boolean(),
});

// Reports of large files named the column twice: "address: address: is not found".
it('a refused geometry has the same error in the import thread', async () => {
  const error = fieldError('address_not_found', { param: 'address', rule: 'is not found' });
  const refused = { ok: false as const, error };
  const resolve = remoteResolver({ resolve: async () => structuredClone(copiedOutcome(refused)) });
  const outcome = await resolve(scopes[0]!, {} as GivenGeofence, deriveId('a'));
  const { code, message, param, rule } = error;
  expect(outcome).toMatchObject({ ok: false, error: { code, message, param, rule } });
});

it('a prepared change is stored like the same change decoded', async () => {
  const path = temporaryFolder();
  const embedded = openEmbedded({ path: `${path}/data`, partitions: 1 });
  const problems: string[] = [];
  const nodes = ['prepared', 'decoded'].map((name) => {
    const readModel = openReadModel(`${path}/${name}`);
    const onProblem = ({ reason }: { reason: string }) => problems.push(reason);
    return { readModel, following: followChanges({ log: embedded.log, readModel, onProblem }) };
  });
  const [{ readModel }, other] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const writer = createConfigurationWriter({ log: embedded.log, readModel });
  onTestFinished(async () => {
    for (const each of nodes) await each.following.close();
    for (const each of nodes) await each.readModel.close();
    await embedded.close();
  });
  let prepared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      const seen = new Map<string, Pick<ConfigurationChange, 'bases' | 'before'>>();
      let planned: ConfigurationChange[] = [];
      for (const { name, scope, fields, by, isWritten } of steps) {
        const id = deriveId('geofence', scope.project, scope.environment, name);
        const read = { bases: readModel.bases('geofence', id), before: readModel.geofence(scope, id) ?? null };
        const known = by === 'stale import' ? (seen.get(id) ?? read) : read;
        seen.set(id, read);
        const { geometrySource, ...rest } = fields ?? {};
        const record =
          fields &&
          geofenceRecord({ ...scope, _id: id, externalId: name, ...rest, ...(geometrySource && { geometrySource }) });
        if (by === 'other') {
          await writer.write([{ kind: 'geofence', id, record, bases: read.bases }]);
        } else if (record !== null) planned.push({ kind: 'geofence', id, record, ...known });
        if (!isWritten || planned.length === 0) continue;
        const changes = unpackChanges(packChanges(planned, 5_000));
        prepared += changes.filter((change) => change.prepared !== undefined).length;
        planned = [];
        await writer.writeEncoded(changes);
      }
      await other.readModel.waitFor(await embedded.log.end('changes', 0));
      expect(problems).toEqual([]);
      expect(contentsOf(`${path}/prepared`)).toEqual(contentsOf(`${path}/decoded`));
    }),
    { numRuns: propertyRuns(30) },
  );
  expect(prepared).toBeGreaterThan(10);
});
