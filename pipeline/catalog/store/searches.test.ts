import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { applyGeofences, geofenceRecord, scopes, temporaryFolder } from '../testing/fixtures.js';
import type { DecodedChange, SearchQuery } from '../types.js';
import { openReadModel } from './read-model.js';
import { plainText } from './tables/keys.js';
import { metadataMatches } from './tables/list-reader.js';

const now = 5;
const place = fc.constantFrom(...scopes);
const description = fc.constantFrom('Öl', 'oil', 'Shop', 'shop 2', 'A\u0000b', 'x'.repeat(70), `${'x'.repeat(70)}y`);
const address = fc.constantFrom(null, 'Via Roma 1');
const someChange = fc
  .record({
    where: place,
    deletes: fc.boolean(),
    address,
    fields: fc.record({
      externalId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      tag: fc.constantFrom('shop', 'café', 'bar'),
      description,
      createdAt: fc.integer({ min: 0, max: 6 }),
      updatedAt: fc.integer({ min: 0, max: 6 }),
      enabled: fc.boolean(),
      disableAfter: fc.constantFrom(null, 4, 5, 6),
      deleteAfter: fc.constantFrom(null, 4, 5),
      metadata: fc.constantFrom(null, { k: 1 }, { k: true }),
    }),
  })
  .map(({ where, deletes, address, fields }): DecodedChange => {
    const record = geofenceRecord({
      ...(fields as Partial<GeofenceRecord>),
      ...where,
      ...(address !== null && {
        geometrySource: { address: { query: address } } as NonNullable<GeofenceRecord['geometrySource']>,
      }),
      _id: deriveId(where.project, where.environment, fields.externalId),
    });
    return { kind: 'geofence', id: record._id, record: deletes ? null : record };
  });

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someSearch = fc.record({
  scope: place,
  limit: fc.integer({ min: 1, max: 3 }),
  maxExamined: fc.integer({ min: 1, max: 4 }),
  sort: fc.constantFrom('createdAt' as const, 'updatedAt' as const, 'description' as const),
  isDescending: fc.boolean(),
  words: optional(fc.array(fc.constantFrom('OL', 'shop', 'roma', 'á', 'x'), { maxLength: 2 })),
  enabled: optional(fc.boolean()),
  tag: optional(fc.constantFrom('shop', 'café')),
  externalId: optional(fc.constantFrom('a', 'b')),
  createdAfter: optional(fc.integer({ min: 0, max: 6 })),
  metadata: optional(fc.constantFrom({ k: ['1', 1] })),
});

/** Searches by reading all records. */
function oracle(records: Iterable<GeofenceRecord>, query: Omit<SearchQuery, 'from'>): GeofenceRecord[] {
  const { sort, isDescending, words = [] } = query;
  const text = (record: GeofenceRecord) =>
    [record.description, record.tag, record.externalId, record.geometrySource?.address?.query]
      .map((part) => plainText(part ?? ''))
      .join('\n');
  const rank = (record: GeofenceRecord) =>
    sort === 'description' ? plainText(record.description.slice(0, 64)).replace('\u0000', ' ') : record[sort];
  return [...records]
    .filter(({ project, environment }) => project === query.project && environment === query.environment)
    .filter(({ deleteAfter }) => deleteAfter === null || now <= deleteAfter)
    .filter((record) => words.every((word) => text(record).includes(plainText(word))))
    .filter(
      ({ enabled, disableAfter }) =>
        query.enabled === undefined || (enabled && (disableAfter === null || now <= disableAfter)) === query.enabled,
    )
    .filter(({ tag }) => query.tag === undefined || tag === query.tag)
    .filter(({ externalId }) => query.externalId === undefined || externalId === query.externalId)
    .filter(({ createdAt }) => createdAt > (query.createdAfter ?? -1))
    .filter((record) => metadataMatches(record, query.metadata))
    .sort((a, b) => {
      // Records of one external id are in the order of their ids only.
      const [x, y] = query.externalId === undefined ? [rank(a), rank(b)] : [0, 0];
      const order = x < y ? -1 : x > y ? 1 : a._id < b._id ? -1 : 1;
      return isDescending ? -order : order;
    });
}

test('a search finds what a look at all records finds, in the same order, however it is divided', async () => {
  const history = fc.array(fc.array(someChange, { maxLength: 12 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(history, fc.array(someSearch, { minLength: 5, maxLength: 15 }), async (batches, searches) => {
      const readModel = openReadModel(temporaryFolder(), { clock: () => now });
      const model = await applyGeofences(readModel, batches);
      for (const { scope, ...rest } of searches) {
        const query = { ...scope, ...rest } as Omit<SearchQuery, 'from'>;
        const found: GeofenceRecord[] = [];
        let from: string | null = null;
        do {
          const part = readModel.searchGeofences({ ...query, from });
          expect(part.items.length).toBeLessThanOrEqual(query.limit);
          expect(part.examined).toBeLessThanOrEqual(query.maxExamined);
          found.push(...part.items);
          from = part.next;
        } while (from !== null);
        expect(found).toEqual(oracle(model.values(), query));
      }
      for (const scope of scopes) {
        const own = [...model.values()].filter((record) => record.project === scope.project);
        const inScope = own.filter(({ environment }) => environment === scope.environment);
        expect(readModel.count('geofence', scope)).toBe(inScope.length);
        expect(readModel.count('geofence', { ...scope, tag: 'shop' })).toBe(
          inScope.filter(({ tag }) => tag === 'shop').length,
        );
      }
      await readModel.close();
    }),
    { numRuns: 25 },
  );
});
