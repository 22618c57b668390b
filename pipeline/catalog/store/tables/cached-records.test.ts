import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { ErasureRecord } from '../../../../schemas/json/erasure.js';
import { propertyRuns } from '../../../../schemas/testing/property-runs.js';
import { projectRecord, scopes, temporaryFolder } from '../../testing/fixtures.js';
import type { DecodedChange, Scope } from '../../types.js';
import { openReadModel, type ReadModel } from '../read-model.js';
import { createCachedRecords, createScopedRecords, type RecordSource } from './cached-records.js';

const idOf = (number: number): string => number.toString(16).padStart(24, '0');

const erasure = (number: number, scope: Scope, fields: Partial<ErasureRecord> = {}): ErasureRecord => ({
  ...{ _id: idOf(number), ...scope, createdAt: 1_000, updatedAt: 1_000 },
  ...{ subject: 'user', target: '', completedAt: null, ...fields },
});

/** A source that tells what is read from it. */
function countedSource(records: readonly ErasureRecord[]) {
  const stored = new Map(records.map((record) => [record._id, record]));
  const changes: string[] = [];
  const read: string[] = [];
  const source: RecordSource<ErasureRecord> = {
    version: () => changes.length,
    changedSince: (version) => new Set(changes.slice(version)),
    find(id) {
      read.push(id);
      return stored.get(id);
    },
    all() {
      read.push('all');
      return stored.values();
    },
  };
  const change = (record: ErasureRecord): void => {
    stored.set(record._id, record);
    changes.push(record._id);
  };
  return { source, change, read };
}

// Each request to erase a user read all erasures of all projects, because the one before had added to them.
test('a change costs one read, and leaves the lists of other scopes alone', () => {
  const [one, other] = scopes as [Scope, Scope];
  const { source, change, read } = countedSource([1, 2, 3].flatMap((n) => [erasure(n, one), erasure(n + 10, other)]));
  const cache = createScopedRecords(source);
  const ofOther = cache.list(other);
  for (let number = 20; number < 40; number++) {
    change(erasure(number, one));
    expect(cache.list(one).map(({ _id }) => _id)).toContain(idOf(number));
    expect(cache.find(one, idOf(number))).toBeDefined();
    expect(cache.find(other, idOf(number))).toBeUndefined();
  }
  expect(cache.list(other)).toBe(ofOther);
  expect(cache.all()).toHaveLength(26);
  expect(read).toEqual(['all', ...Array.from({ length: 20 }, (_, index) => idOf(20 + index))]);
});

test('a record that does not change stays the same object', () => {
  const { source, change, read } = countedSource([1, 2, 3].map((number) => erasure(number, scopes[0]!)));
  const records = createCachedRecords(source);
  const [first, , third] = records();
  change(erasure(2, scopes[0]!, { completedAt: 5 }));
  expect(records()[0]).toBe(first);
  expect(records()[1]!.completedAt).toBe(5);
  expect(records()[2]).toBe(third);
  expect(records()).toBe(records());
  expect(read).toEqual(['all', idOf(2)]);
});

function openHere(folder: string): ReadModel {
  const readModel = openReadModel(folder, { feedRecords: 6 });
  onTestFinished(() => readModel.close());
  return readModel;
}

const anErasure = fc.record({
  number: fc.nat(5),
  scope: fc.constantFrom(...scopes),
  createdAt: fc.integer({ min: 1, max: 3 }),
  isDeletion: fc.boolean(),
});
const step = fc.record({
  changes: fc.array(anErasure, { maxLength: 3 }),
  /** Changes of other records before it: beyond six, nobody knows what has changed. */
  offsets: fc.constantFrom(1, 2, 9),
  isRead: fc.boolean(),
});

test('lists that follow changes equal those that are read anew', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const folder = temporaryFolder();
      const followed = openHere(folder);
      let offset = 0;
      for (const { changes, offsets, isRead } of steps) {
        offset += changes.length + offsets;
        const erasures = changes.map(({ number, scope, createdAt, isDeletion }): DecodedChange => {
          const record = erasure(number, scope, { createdAt });
          return { kind: 'erasure', id: record._id, record: isDeletion ? null : record };
        });
        const project = projectRecord({ name: `${offset}` });
        await followed.apply([...erasures, { kind: 'project', id: project._id, record: project }], offset);
        if (!isRead) continue;
        const fresh = openReadModel(folder, { feedRecords: 6 });
        for (const scope of scopes) expect(followed.erasures(scope)).toEqual(fresh.erasures(scope));
        expect(followed.projects()).toEqual(fresh.projects());
        expect(new Set(followed.allErasures())).toEqual(new Set(fresh.allErasures()));
        await fresh.close();
      }
    }),
    { numRuns: propertyRuns(20) },
  );
});

test('lists of a topic that was replaced are read anew', async () => {
  const readModel = openHere(temporaryFolder());
  const [kept, gone] = [erasure(1, scopes[0]!), erasure(2, scopes[0]!)];
  await readModel.apply(
    [kept, gone].map((record) => ({ kind: 'erasure', id: record._id, record })),
    2,
  );
  expect(readModel.erasures(scopes[0]!)).toEqual([kept, gone]);
  await readModel.restart((_, id) => id === kept._id);
  expect(readModel.erasures(scopes[0]!)).toEqual([kept]);
  const again = { ...gone, createdAt: 500 };
  await readModel.apply([{ kind: 'erasure', id: again._id, record: again }], 1);
  expect(readModel.erasures(scopes[0]!)).toEqual([again, kept]);
});
