import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { open } from 'lmdb';
import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../../schemas/ids.js';
import type { Position } from '../../../../schemas/json/common.js';
import type { PlaceRecord } from '../../../../schemas/json/place.js';
import { distance } from '../../../geometry/scale.js';
import { geofenceRecord, placeRecord, scope, scopes, temporaryFolder } from '../../testing/fixtures.js';
import type { DecodedChange } from '../../types.js';
import { openReadModel, type ReadModel } from '../read-model.js';
import { openStoredPlaces } from './stored-places.js';

function openModel(): ReadModel {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  return readModel;
}

/** Applies changes one batch after the other. */
function applier(readModel: ReadModel) {
  let offset = 0;
  return (...changes: DecodedChange[]) => {
    offset += changes.length;
    return readModel.apply(changes, offset);
  };
}

const put = (record: PlaceRecord): DecodedChange => ({ kind: 'place', id: record._id, record });

const position = fc.oneof(
  fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true })),
  // Close together, at the antimeridian and at a pole.
  fc.tuple(fc.constantFrom(179.99, -179.99, 180, -180, 0), fc.constantFrom(0, 0.005, 89.999, 90, -90)),
  fc.tuple(fc.double({ min: 10, max: 10.05, noNaN: true }), fc.double({ min: 50, max: 50.05, noNaN: true })),
) as fc.Arbitrary<Position>;

test('a search finds the places within its radius, nearest first, as a slow scan does', async () => {
  const readModel = openModel();
  const apply = applier(readModel);
  let placed: PlaceRecord[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(8), position, fc.constantFrom(...scopes)), { maxLength: 12 }),
      position,
      fc.constantFrom(1, 100, 1_000, 10_000),
      fc.integer({ min: 1, max: 5 }),
      async (given, near, radiusM, limit) => {
        const before = placed;
        const byId = new Map<string, PlaceRecord>();
        for (const [number, center, inScope] of given) {
          const record = placeRecord({ ...inScope, placeId: `${number}`, center, updatedAt: number });
          byId.set(record._id, record);
        }
        placed = [...byId.values()];
        await apply(...before.map(({ _id }): DecodedChange => ({ kind: 'place', id: _id, record: null })));
        await apply(...placed.map(put));

        const expected = placed
          .filter(({ project, environment }) => project === scope.project && environment === scope.environment)
          .map((record) => ({ record, distanceM: distance(...near, ...record.center) }))
          .filter(({ distanceM }) => distanceM < radiusM - 0.1)
          .sort((a, b) => a.distanceM - b.distanceM);
        const query = { ...scope, near, radiusM, limit, accepts: () => true };
        const found = await readModel.places.near(query);
        // Positions in the index are rounded to a centimetre, so distances agree to a decimetre.
        const atLeast = expected.slice(0, limit);
        expect(found.length).toBeGreaterThanOrEqual(atLeast.length);
        for (const [index, { distanceM }] of atLeast.entries())
          expect(Math.abs(found[index]!.distanceM - distanceM)).toBeLessThan(0.1);
        for (const { distanceM } of found) expect(distanceM).toBeLessThanOrEqual(radiusM);

        const accepts = ({ placeId }: PlaceRecord) => Number(placeId) % 2 === 0;
        const even = await readModel.places.near({ ...query, limit: 100, accepts });
        expect(even.every(({ record }) => accepts(record))).toBe(true);
        expect(even.length).toBeGreaterThanOrEqual(expected.filter(({ record }) => accepts(record)).length);
      },
    ),
    { numRuns: 60 },
  );
});

test('a search among thousands of places does not hold up all other requests, as it once did', async () => {
  const readModel = openModel();
  const center = (number: number): Position => [10 + (number % 60) / 1_000, 50 + Math.floor(number / 60) / 1_000];
  await applier(readModel)(
    ...Array.from({ length: 3_000 }, (_, number) => put(placeRecord({ placeId: `${number}`, center: center(number) }))),
  );
  let read = 0;
  const query = { ...scope, near: [10, 50] as Position, radiusM: 10_000, limit: 1 };
  let isFound = false;
  const accepts = () => ++read < 0;
  const search = readModel.places.near({ ...query, accepts }).then((found) => {
    isFound = true;
    return found;
  });
  let turns = 0;
  for (; !isFound; turns++) await setImmediate();
  expect(await search).toEqual([]);
  // Each once, although the search widens.
  expect(read).toBe(3_000);
  expect(turns).toBeGreaterThan(20);
});

test('a place that moves while a search widens is listed once, and none is left out', async () => {
  const root = open({ path: temporaryFolder() });
  onTestFinished(() => root.close());
  const places = openStoredPlaces(root);
  const at = (placeId: string, longitude: number) => placeRecord({ placeId, center: [longitude, 0] });
  const put = (...records: PlaceRecord[]): void =>
    root.transactionSync(() => {
      for (const record of records) places.replaceSync(record._id, record);
    });
  const [inner, outer] = [0.0001, 0.05];
  put(at('goes', inner), at('comes', outer));
  let isMoved = false;
  const accepts = (): boolean => {
    if (!isMoved) put(at('goes', outer), at('comes', inner));
    isMoved = true;
    return true;
  };
  const found = await places.near({ ...scope, near: [0, 0], radiusM: 10_000, limit: 10, accepts });
  expect(found.map(({ record }) => record.placeId)).toEqual(['goes', 'comes']);
});

test('lists are by time, last updated first, and pages join without a gap', async () => {
  const readModel = openModel();
  const apply = applier(readModel);
  const records = Array.from({ length: 25 }, (_, number) =>
    placeRecord({ placeId: `${number}`, updatedAt: 1_000 + ((number * 7) % 25) }),
  );
  await apply(...records.map(put), put(placeRecord({ ...scopes[1]!, placeId: 'other' })));
  const sorted = [...records].sort((a, b) => b.updatedAt - a.updatedAt);
  const seen: PlaceRecord[] = [];
  for (let before: number | undefined; ; ) {
    const { items, hasMore } = readModel.places.list({
      ...scope,
      limit: 10,
      ...(before !== undefined && { updatedBefore: before }),
    });
    seen.push(...items);
    if (!hasMore) break;
    before = items.at(-1)!.updatedAt;
  }
  expect(seen).toEqual(sorted);
  expect(readModel.places.list({ ...scope, limit: 10, updatedAfter: 1_020 }).items).toHaveLength(4);
});

test('a place is found in its own scope only, by its latest record', async () => {
  const readModel = openModel();
  const apply = applier(readModel);
  const record = placeRecord({ name: 'Old' });
  await apply(put(record), put({ ...record, name: 'New', updatedAt: 2_000 }));
  expect(readModel.places.find(scope, record._id)).toMatchObject({ name: 'New' });
  expect(readModel.places.find(scopes[1]!, record._id)).toBeUndefined();
  expect(readModel.record('place', record._id)).toMatchObject({ name: 'New' });
  expect(readModel.places.list({ ...scope, limit: 10 }).items).toHaveLength(1);
  await readModel.restart(() => false);
  expect(readModel.places.list({ ...scope, limit: 10 }).items).toEqual([]);
});

test('the outdated geofences are those whose place has another geometry, after any changes', async () => {
  const geometries: Position[] = [
    [10, 50],
    [11, 51],
  ];
  const step = fc.oneof(
    fc.record({
      what: fc.constant('place' as const),
      number: fc.nat(2),
      geometry: fc.option(fc.constantFrom(...geometries)),
    }),
    fc.record({
      what: fc.constant('geofence' as const),
      number: fc.nat(4),
      place: fc.option(fc.nat(2)),
      geometry: fc.constantFrom(...geometries),
      isThere: fc.boolean(),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 8 }), async (batches) => {
      const readModel = openReadModel(temporaryFolder());
      const apply = applier(readModel);
      const places = new Map<string, PlaceRecord | null>();
      const geofences = new Map<string, ReturnType<typeof geofenceRecord> | null>();
      for (const batch of batches) {
        const changes = batch.map((one): DecodedChange => {
          if (one.what === 'place') {
            const record = placeRecord({ placeId: `${one.number}`, center: one.geometry ?? [0, 0] });
            places.set(`${one.number}`, one.geometry && record);
            return { kind: 'place', id: record._id, record: one.geometry && record };
          }
          const { geometryHash } = placeRecord({ center: one.geometry });
          const source = { id: `${one.place}`, geometryHash, type: 'circle' as const, radius: 100 };
          const record = geofenceRecord({
            externalId: `${one.number}`,
            ...(one.place !== null && { geometrySource: { place: source } }),
          });
          geofences.set(record._id, one.isThere ? record : null);
          return { kind: 'geofence', id: record._id, record: one.isThere ? record : null };
        });
        await apply(...changes);
        const expected = [...geofences].flatMap(([id, record]) => {
          const source = record?.geometrySource?.place;
          const place = source && places.get(source.id);
          return place && place.geometryHash !== source.geometryHash ? [id] : [];
        });
        expect(readModel.outdatedGeofences(100)).toEqual(expected.sort());
        expect(readModel.outdatedGeofences(1)).toEqual(expected.slice(0, 1));
        expect(readModel.outdatedGeofences(100, expected[0] ?? deriveId('none'))).toEqual(
          expected.length > 0 ? expected.slice(1) : [],
        );
        const following = [...geofences].flatMap(([id, record]) =>
          record?.geometrySource?.place?.id === '1' ? [id] : [],
        );
        expect(readModel.geofencesOfPlace(scope, '1', 100)).toEqual(following.sort());
      }
      await readModel.close();
    }),
    { numRuns: 20 },
  );
});
