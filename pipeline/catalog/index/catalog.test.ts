import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import { defaultSettings } from '../../../schemas/json/project.js';
import { collectGarbage } from '../../../testing/garbage.js';
import { until } from '../../../testing/until.js';
import { openReadModel, type ReadModel, type ReadModelOptions } from '../store/read-model.js';
import {
  beaconRecord,
  geofenceRecord,
  projectA,
  projectB,
  projectRecord,
  scope,
  scopes,
  temporaryFolder,
} from '../testing/fixtures.js';
import type { DecodedChange, Scope } from '../types.js';
import { createCatalog, type MonitoredCatalog } from './catalog.js';
import { followInBackground } from './follow.js';

/** The applier's read model, and a catalog over a second read model on the same file, as in another thread. */
async function openPair(
  options: ReadModelOptions = {},
): Promise<{ applier: ReadModel; follower: ReadModel; follow: () => MonitoredCatalog }> {
  const path = temporaryFolder();
  const applier = openReadModel(path, options);
  const follower = openReadModel(path, options);
  onTestFinished(async () => {
    await follower.close();
    await applier.close();
  });
  await applier.apply(
    [projectA, projectB].map((_id) => ({ kind: 'project', id: _id, record: projectRecord({ _id }) })),
    2,
  );
  const follow = () => {
    const catalog = createCatalog(follower);
    onTestFinished(() => catalog.close());
    return catalog;
  };
  return { applier, follower, follow };
}

const idsAt = (catalog: MonitoredCatalog, where: Scope, longitude: number, latitude: number): string[] => {
  const { fences } = catalog.context(where)!;
  return [...fences.candidates(longitude, latitude, 0).subarray(0, fences.candidateCount)]
    .map((row) => fences.idOf(row))
    .sort();
};

test('settings, fences and beacons of a project follow the read model', async () => {
  const { applier, follow } = await openPair();
  const catalog = follow();
  expect(catalog.context({ ...scope, project: deriveId('unknown') })).toBeUndefined();
  expect(catalog.context(scope)?.settings).toEqual(defaultSettings);
  expect(catalog.context(scope)).toBe(catalog.context(scope));

  const fence = geofenceRecord();
  const beacon = beaconRecord();
  const settings = { test: { ...defaultSettings, bufferEntries: true }, live: defaultSettings };
  await applier.apply(
    [
      { kind: 'geofence', id: fence._id, record: fence },
      { kind: 'beacon', id: beacon._id, record: beacon },
      { kind: 'project', id: projectA, record: projectRecord({ settings }) },
    ],
    5,
  );
  catalog.refresh();
  expect(catalog.context(scope)?.settings.bufferEntries).toBe(true);
  expect(catalog.context(scopes[1]!)?.settings.bufferEntries).toBe(false);
  expect(idsAt(catalog, scope, 10, 50)).toEqual([fence._id]);
  expect(idsAt(catalog, scopes[1]!, 10, 50)).toEqual([]);
  expect(catalog.context(scope)?.beacons.byId(beacon._id)?.enabled).toBe(true);

  await applier.apply(
    [
      { kind: 'geofence', id: fence._id, record: { ...fence, center: [20, 50] } },
      { kind: 'beacon', id: beacon._id, record: null },
      { kind: 'project', id: projectB, record: null },
    ],
    8,
  );
  catalog.refresh();
  expect(idsAt(catalog, scope, 10, 50)).toEqual([]);
  expect(idsAt(catalog, scope, 20, 50)).toEqual([fence._id]);
  expect(catalog.context(scope)?.beacons.byId(beacon._id)).toBeUndefined();
  expect(catalog.context(scopes[2]!)).toBeUndefined();
});

// The tables and the index of every project that was ever deleted stayed in memory, as large as they once were.
test.each([
  ['after its records', (project: DecodedChange, records: DecodedChange[]) => [...records, project]],
  ['before its records', (project: DecodedChange, records: DecodedChange[]) => [project, ...records]],
] as const)('regression: the memory of a project that is deleted %s is free again', async (_, inOrder) => {
  const { applier, follow } = await openPair();
  const catalog = follow();
  const [fence, beacon] = [geofenceRecord(), beaconRecord()];
  await applier.apply(
    [
      { kind: 'geofence', id: fence._id, record: fence },
      { kind: 'beacon', id: beacon._id, record: beacon },
    ],
    4,
  );
  catalog.refresh();
  const memory = new WeakRef(catalog.context(scope)!.fences);
  const records = [
    { kind: 'geofence', id: fence._id, record: null },
    { kind: 'beacon', id: beacon._id, record: null },
  ] as const;
  let offset = 4;
  for (const change of inOrder({ kind: 'project', id: projectA, record: null }, [...records])) {
    await applier.apply([change], ++offset);
    catalog.refresh();
  }
  expect(catalog.context(scope)).toBeUndefined();
  await until(() => {
    collectGarbage();
    return memory.deref() === undefined;
  });

  await applier.apply([{ kind: 'project', id: projectA, record: projectRecord() }], ++offset);
  await applier.apply([{ kind: 'geofence', id: fence._id, record: fence }], ++offset);
  catalog.refresh();
  expect(idsAt(catalog, scope, 10, 50)).toEqual([fence._id]);
});

const change = fc
  .record({
    where: fc.constantFrom(...scopes),
    externalId: fc.constantFrom(...Array.from({ length: 12 }, (_, index) => String(index))),
    longitude: fc.constantFrom(-180, -10, 0, 10, 180),
    deletes: fc.boolean(),
  })
  .map(({ where, externalId, longitude, deletes }): DecodedChange => {
    // Without the environment in the id, so that a fence also moves between scopes.
    const record = geofenceRecord({ ...where, _id: deriveId(externalId), externalId, center: [longitude, 50] });
    return { kind: 'geofence', id: record._id, record: deletes ? null : record };
  });

test('a following catalog agrees with a fresh one, however far behind', async () => {
  const steps = fc.constantFrom(0, 1, 5, Infinity);
  const history = fc.array(fc.tuple(fc.array(change, { minLength: 1, maxLength: 15 }), steps), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(history, async (batches) => {
      const { applier, follow } = await openPair({ feedRecords: 20 });
      const following = follow();
      let offset = 2;
      for (const [batch, changes] of batches) {
        offset += batch.length;
        await applier.apply(batch, offset);
        if (changes === Infinity) following.refresh();
        else for (let step = 0; step < changes; step++) following.refreshFor(0);
      }
      following.refresh();
      const fresh = follow();
      for (const where of scopes) {
        expect(following.context(where)!.fences.size).toBe(fresh.context(where)!.fences.size);
        for (const longitude of [-180, -10, 0, 10, 180]) {
          expect(idsAt(following, where, longitude, 50)).toEqual(idsAt(fresh, where, longitude, 50));
        }
      }
    }),
    { numRuns: 40 },
  );
});

// A search that came after more changes than the feed has loaded all fences in one turn of the event loop. Fewer
// changes were applied in one turn as well.
test('regression: a catalog that nobody asks follows in steps, also more changes than the feed has', async () => {
  const { applier, follower, follow } = await openPair({ feedRecords: 50 });
  const load = vi.spyOn(follower, 'compactFences');
  const catalog = follow();
  const step = vi.spyOn(catalog, 'refreshFor');
  const background = followInBackground(catalog, { intervalMs: 1, stepMs: 0 });
  onTestFinished(() => background.stop());
  const batchFences = 20;
  for (let batch = 1; batch <= 5; batch++) {
    const fences = Array.from({ length: batchFences }, (_, index) =>
      geofenceRecord({ externalId: `${batch}-${index}` }),
    );
    await applier.apply(
      fences.map((record) => ({ kind: 'geofence', id: record._id, record })),
      2 + batch * batchFences,
    );
    await until(() => catalog.context(scope)?.fences.size === batch * batchFences, { pollEveryMs: 1 });
  }
  expect(step.mock.results.filter(({ value }) => value === false).length).toBeGreaterThanOrEqual(5 * batchFences);
  expect(load).toHaveBeenCalledOnce();
});
