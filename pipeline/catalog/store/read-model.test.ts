import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import {
  applyGeofences,
  beaconRecord,
  geofenceRecord,
  projectA,
  projectRecord,
  scope,
  scopes,
  temporaryFolder,
} from '../testing/fixtures.js';
import type { DecodedChange, ListQuery, Page } from '../types.js';
import { openReadModel, type ReadModel, type ReadModelOptions } from './read-model.js';
import { metadataMatches } from './tables/list-reader.js';

const put = (record: GeofenceRecord): DecodedChange => ({ kind: 'geofence', id: record._id, record });

function openHere(path = temporaryFolder(), options: ReadModelOptions = {}): ReadModel {
  const readModel = openReadModel(path, options);
  onTestFinished(() => readModel.close());
  return readModel;
}

test('returns records only within their scope, and increases the version with every change', async () => {
  const readModel = openHere();
  const fence = geofenceRecord();
  const beacon = beaconRecord();
  const project = projectRecord();
  expect(readModel.version).toBe(0);
  await readModel.apply([put(fence), { kind: 'beacon', id: beacon._id, record: beacon }], 2);
  await readModel.apply([{ kind: 'project', id: project._id, record: project }], 3);
  expect(readModel.version).toBe(3);
  expect(readModel.geofence(scope, fence._id)).toEqual(fence);
  expect(readModel.beacon(scope, beacon._id)).toEqual(beacon);
  expect(readModel.project(projectA)).toEqual(project);
  expect(readModel.projects()).toEqual([project]);
  expect(readModel.geofence(scopes[1]!, fence._id)).toBeUndefined();
  expect(readModel.beacon(scopes[2]!, beacon._id)).toBeUndefined();
  for (const id of ['', 'no-id', '../x']) {
    expect([readModel.geofence(scope, id), readModel.beacon(scope, id), readModel.project(id)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  }
  expect(readModel.latestTimestamp).toBe(1_000);

  await readModel.apply([{ kind: 'project', id: project._id, record: { ...project, name: 'Renamed' } }], 4);
  expect(readModel.project(projectA)?.name).toBe('Renamed');
  await readModel.apply(
    [
      { kind: 'project', id: project._id, record: null },
      { ...put(fence), record: null },
    ],
    6,
  );
  expect(readModel.project(projectA)).toBeUndefined();
  expect(readModel.geofence(scope, fence._id)).toBeUndefined();
});

test('lists by any external id exactly its geofences', async () => {
  const readModel = openHere();
  const long = 'x'.repeat(200);
  const externalIds = ['a', 'ab', 'a\0', 'a b', 'é', '\u00ff', 'x'.repeat(47), 'x'.repeat(48), long, `${long}x`];
  const fences = externalIds.flatMap((externalId) =>
    ['shop', 'park'].map((tag) => geofenceRecord({ externalId, tag, _id: deriveId(tag, externalId) })),
  );
  await readModel.apply(fences.map(put), fences.length);
  const listed = (externalId: string) =>
    readModel.geofences({ ...scope, limit: 10, orderBy: 'createdAt', externalId }).items.map(({ _id }) => _id);
  for (const externalId of externalIds) {
    const expected = ['shop', 'park'].map((tag) => deriveId(tag, externalId));
    expect(listed(externalId).toSorted()).toEqual(expected.toSorted());
  }
  const removed = fences.map(({ _id }) => ({ kind: 'geofence' as const, id: _id, record: null }));
  await readModel.apply(removed, 2 * fences.length);
  expect(externalIds.flatMap(listed)).toEqual([]);
});

test('hides a geofence after its deleteAfter, and lists it as expired', async () => {
  let now = 5_000;
  const readModel = openHere(undefined, { clock: () => now });
  const fence = geofenceRecord({ deleteAfter: 5_000 });
  await readModel.apply([put(fence), put(geofenceRecord({ externalId: 'y' }))], 2);
  expect(readModel.geofence(scope, fence._id)).toBeDefined();
  expect(readModel.expired(now, 10)).toEqual([]);
  now = 5_001;
  expect(readModel.geofence(scope, fence._id)).toBeUndefined();
  expect(
    readModel.geofences({ ...scope, limit: 10, orderBy: 'createdAt' }).items.map(({ externalId }) => externalId),
  ).toEqual(['y']);
  expect(readModel.expired(now, 10)).toEqual([fence._id]);
  await readModel.apply([put({ ...fence, deleteAfter: null })], 3);
  expect(readModel.expired(now, 10)).toEqual([]);
});

test('keeps records and offset after closing', async () => {
  const path = temporaryFolder();
  const first = openReadModel(path);
  const fence = geofenceRecord({ updatedAt: 7_000 });
  await first.apply([put(fence)], 17);
  await first.close();
  const second = openHere(path);
  expect(second.nextOffset).toBe(17);
  expect(second.latestTimestamp).toBe(7_000);
  expect(second.geofence(scope, fence._id)).toEqual(fence);
  expect([...second.compactFences()].map(({ id }) => id)).toEqual([fence._id]);
});

test('applies overlapping calls in order, also when the first commit must be repeated', async () => {
  let freeSpace: () => void = () => {};
  const space = new Promise<void>((resolve) => {
    freeSpace = resolve;
  });
  let commits = 0;
  const readModel = openHere(temporaryFolder(), {
    async commit(transaction) {
      commits += 1;
      if (commits === 1) await space;
      await transaction();
    },
  });
  const [fence, changed] = [geofenceRecord(), geofenceRecord({ description: 'changed' })];
  const ended: number[] = [];
  const first = readModel.apply([put(fence)], 1).then(() => ended.push(1));
  const second = readModel.apply([put(changed)], 2).then(() => ended.push(2));
  await expect.poll(() => commits).toBe(2);
  await nextTurn();
  expect(readModel.nextOffset).toBe(0);
  freeSpace();
  await Promise.all([first, second]);
  expect(ended).toEqual([1, 2]);
  expect(readModel.nextOffset).toBe(2);
  expect(readModel.geofence(scope, fence._id)).toEqual(changed);

  await Promise.all([readModel.apply([put(fence)], 3), readModel.apply([put(changed)], 4)]);
  expect(readModel.geofence(scope, fence._id)).toEqual(changed);
});

test('a call after one that failed fails as well', async () => {
  let commits = 0;
  const readModel = openHere(temporaryFolder(), {
    async commit(transaction) {
      commits += 1;
      if (commits === 1) throw new Error('the disk is broken');
      await transaction();
    },
  });
  const calls = [1, 2].map((nextOffset) => readModel.apply([put(geofenceRecord())], nextOffset));
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(readModel.nextOffset).toBe(0);
  await readModel.apply([put(geofenceRecord())], 1);
  expect(readModel.nextOffset).toBe(1);
});

test('waits until an offset is applied', async () => {
  const readModel = openHere();
  let resolved = 0;
  const waits = [1, 2, 2].map((offset) => readModel.waitFor(offset).then(() => resolved++));
  await readModel.apply([put(geofenceRecord())], 1);
  await waits[0];
  expect(resolved).toBe(1);
  await readModel.apply([], 2);
  await Promise.all(waits);
  await readModel.waitFor(2);
});

test('the feed lists each changed record once per scope, and reports when it no longer reaches back', async () => {
  const readModel = openHere(undefined, { feedRecords: 10 });
  const fence = geofenceRecord();
  await readModel.apply([put(fence), put({ ...fence, radius: 50 })], 2);
  await readModel.apply([put({ ...fence, environment: 'live' })], 3);
  await readModel.apply([{ kind: 'project', id: projectA, record: null }], 4);
  const where = (environment: 'test' | 'live') => ({
    kind: 'geofence',
    id: fence._id,
    scope: { project: projectA, environment },
  });
  const project = { kind: 'project', id: projectA, scope: null };
  expect(readModel.feed(0)).toEqual({ things: [where('test'), where('live'), project], version: 4 });
  expect(readModel.feed(3)).toEqual({ things: [project], version: 4 });
  expect(readModel.feed(4)).toEqual({ things: [], version: 4 });
  expect(readModel.feed(0, 1)).toEqual({ things: [where('test')], version: 2 });
  expect(readModel.feed(2, 2)).toEqual({ things: [where('test'), where('live')], version: 3 });
  await readModel.apply([put(fence)], 13);
  expect(readModel.feed(2)).toBeUndefined();
  expect(readModel.feed(3)?.things).toHaveLength(3);
});

test('a list after a time before 1970 has the records of its first millisecond', async () => {
  const readModel = openHere();
  const first = geofenceRecord({ createdAt: 0, updatedAt: 0 });
  await readModel.apply([put(first)], 1);
  for (const after of [{ createdAfter: -1 }, { orderBy: 'updatedAt' as const, updatedAfter: -1 }]) {
    const query: ListQuery = { ...scope, limit: 1, orderBy: 'createdAt', ...after };
    expect(readModel.geofences(query).items).toEqual([first]);
  }
});

const place = fc.constantFrom(...scopes);
const someRecord = fc.record({
  externalId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  tag: fc.constantFrom('shop', 'café', 'x'.repeat(3_000)),
  createdAt: fc.integer({ min: 0, max: 6 }),
  updatedAt: fc.integer({ min: 0, max: 6 }),
  metadata: fc.option(fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom(1, true, 'x'))),
  deleteAfter: fc.option(fc.constantFrom(4, 5, 6)),
});
const someChange = fc.tuple(place, someRecord, fc.boolean()).map(([where, fields, deletes]): DecodedChange => {
  const record = geofenceRecord({
    ...fields,
    ...where,
    _id: deriveId(where.project, where.environment, fields.externalId),
  });
  return { kind: 'geofence', id: record._id, record: deletes ? null : record };
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someQuery = fc.record({
  scope: place,
  limit: fc.integer({ min: 1, max: 5 }),
  orderBy: fc.constantFrom('createdAt' as const, 'updatedAt' as const),
  createdBefore: optional(fc.integer({ min: -1, max: 7 })),
  createdAfter: optional(fc.integer({ min: -1, max: 7 })),
  updatedBefore: optional(fc.integer({ min: -1, max: 7 })),
  updatedAfter: optional(fc.integer({ min: -1, max: 7 })),
  tag: optional(fc.constantFrom('shop', 'café', 'x'.repeat(3_000))),
  externalId: optional(fc.constantFrom('a', 'b')),
  metadata: optional(fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom([1], ['x', 1], [true]))),
});

const now = 5;

/** Computes a list by reading all records. */
function modelPage(records: Iterable<GeofenceRecord>, query: ListQuery): Page<GeofenceRecord> {
  const within = (time: number, before = Infinity, after = -Infinity) => time < before && time > after;
  const all = [...records]
    .filter(({ project, environment }) => project === query.project && environment === query.environment)
    .filter(({ deleteAfter }) => deleteAfter === null || now <= deleteAfter)
    .filter(({ createdAt }) => within(createdAt, query.createdBefore, query.createdAfter))
    .filter(({ updatedAt }) => within(updatedAt, query.updatedBefore, query.updatedAfter))
    .filter(({ tag }) => query.tag === undefined || tag === query.tag)
    .filter(({ externalId }) => query.externalId === undefined || externalId === query.externalId)
    .filter((record) => metadataMatches(record, query.metadata))
    .sort((a, b) => b[query.orderBy] - a[query.orderBy] || (a._id < b._id ? 1 : -1));
  return { items: all.slice(0, query.limit), hasMore: all.length > query.limit };
}

test('lists agree with a plain array after any changes', async () => {
  const history = fc.array(fc.array(someChange, { maxLength: 6 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(history, fc.array(someQuery, { minLength: 5, maxLength: 20 }), async (batches, queries) => {
      const readModel = openReadModel(temporaryFolder(), { clock: () => now });
      const model = await applyGeofences(readModel, batches);
      for (const { scope: where, ...rest } of queries) {
        const query = { ...where, ...rest } as ListQuery;
        expect(readModel.geofences(query)).toEqual(modelPage(model.values(), query));
      }
      expect([...readModel.compactFences()].map(({ id }) => id).sort()).toEqual(Array.from(model.keys()).sort());
      await readModel.close();
    }),
    { numRuns: propertyRuns(60) },
  );
});
