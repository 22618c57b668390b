import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { Zone } from '../../evaluation/types.js';
import { createRulesCompiler } from '../store/tables/fence-rules.js';
import type { CompactFence } from '../store/tables/stored-fence.js';
import { MonitoredFences } from './monitored-fences.js';
import { createTreeBuilder, type TreeBuilder } from './tree-builder.js';

const threadBuilder = createTreeBuilder();
afterAll(() => threadBuilder.close());

/** Delays every build until the test finishes it, so that the test can make changes meanwhile. */
function createHeldBuilder(): TreeBuilder & { finish(): void } {
  const held: (() => void)[] = [];
  const builder = createTreeBuilder();
  return {
    build: (boxes, done) => held.push(() => builder.build(boxes, done)),
    finish: () => held.shift()?.(),
    close: () => builder.close(),
  };
}

const fencesWith = (builder: TreeBuilder) => new MonitoredFences({ builder, compileRules: createRulesCompiler() });

const edgeOf = (values: number[], min: number, max: number) =>
  fc.oneof(fc.constantFrom(...values), fc.double({ min, max, noNaN: true }));
const longitude = edgeOf([-180, 180, 179.9999, -179.9999, 0], -180, 180);
const latitude = edgeOf([-90, 90, 89.99, -89.99, 0], -90, 90);

const circle = fc
  .tuple(longitude, latitude, fc.constantFrom(10, 100, 10_000))
  .map(([x, y, radiusM]): CompactFence['shape'] => ({ type: 'circle', longitude: x, latitude: y, radiusM }));
/** A box whose west edge is within [-180, 180] and whose east edge may be beyond 180. */
const ring = fc
  .tuple(
    longitude,
    fc.double({ min: -89, max: 85, noNaN: true }),
    fc.constantFrom(0.001, 0.5, 20, 200, 359),
    fc.constantFrom(0.001, 4),
  )
  .map(([x, y, width, height]): CompactFence['shape'] => ({
    type: 'ring',
    coordinates: Float64Array.of(x, y, x + width, y, x + width, y + height, x, y + height),
  }));
const compactFence = fc
  .oneof(circle, ring)
  .map((shape): CompactFence => ({ generation: 1, shape, rules: '', tag: 't' }));

const question = fc.record({ longitude, latitude, accuracyM: fc.constantFrom(0, 0, 20, 1_000, 200_000) });

/** Expects every fence that the disc reaches among the candidates, and only existing fences, each once. */
function expectNoMiss(
  fences: MonitoredFences,
  ids: Iterable<string>,
  query: { longitude: number; latitude: number; accuracyM: number },
) {
  const candidates = [
    ...fences.candidates(query.longitude, query.latitude, query.accuracyM).subarray(0, fences.candidateCount),
  ];
  expect(new Set(candidates).size).toBe(candidates.length);
  const found = new Set(candidates.map((row) => fences.idOf(row)));
  expect(found.has(undefined as never)).toBe(false);
  for (const id of ids) {
    const zone = fences.zone(fences.rowOf(id), query.longitude, query.latitude, query.accuracyM);
    if (zone !== Zone.apart && !found.has(id)) throw new Error(`missed ${id} in zone ${zone}`);
  }
}

test('an empty set has no candidates', () => {
  const fences = fencesWith(threadBuilder);
  fences.indexAll();
  fences.candidates(0, 0, 100);
  expect(fences.candidateCount).toBe(0);
  expect(fences.rowOf('x')).toBe(-1);
});

test('returns every fence once, also at the antimeridian and the poles', () => {
  fc.assert(
    fc.property(
      fc.array(compactFence, { maxLength: 60 }),
      fc.array(question, { minLength: 10, maxLength: 30 }),
      fc.boolean(),
      (shapes, queries, loads) => {
        const fences = fencesWith(threadBuilder);
        for (const [index, fence] of shapes.entries()) {
          if (loads) fences.setUnindexed(`f${index}`, fence);
          else fences.set(`f${index}`, fence);
        }
        if (loads) fences.indexAll();
        for (const query of queries)
          expectNoMiss(
            fences,
            shapes.map((_, index) => `f${index}`),
            query,
          );
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});

type Step =
  | { do: 'set'; id: number; fence: CompactFence }
  | { do: 'delete'; id: number }
  | { do: 'flood'; seed: number }
  | { do: 'finish' };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('set' as const), id: fc.nat(30), fence: compactFence }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), id: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flood' as const), seed: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const) }) },
);

test('changes before, during and after a rebuild are never lost', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 25 }),
      fc.array(question, { minLength: 3, maxLength: 10 }),
      (steps, queries) => {
        const builder = createHeldBuilder();
        const fences = fencesWith(builder);
        const ids = new Set<string>();
        const set = (id: string, fence: CompactFence) => {
          fences.set(id, fence);
          ids.add(id);
        };
        for (const current of steps) {
          if (current.do === 'set') set(`f${current.id}`, current.fence);
          if (current.do === 'delete') {
            fences.delete(`f${current.id}`);
            ids.delete(`f${current.id}`);
          }
          if (current.do === 'finish') builder.finish();
          if (current.do === 'flood') {
            // More changes than the limit, so that a rebuild starts.
            for (let index = 0; index < 1_100; index++) {
              const shape = {
                type: 'circle',
                longitude: (index % 300) - 150,
                latitude: (index % 100) - 50,
                radiusM: 100,
              } as const;
              set(`flood ${current.seed} ${index}`, { generation: 1, shape, rules: '', tag: 't' });
            }
          }
          for (const query of queries) expectNoMiss(fences, ids, query);
        }
        expect(fences.size).toBe(ids.size);
      },
    ),
    { numRuns: propertyRuns(40) },
  );
});

test('a large set is rebuilt in another thread with the same results', async () => {
  const fences = fencesWith(threadBuilder);
  const at = (index: number, radiusM: number): CompactFence => ({
    generation: 1,
    shape: { type: 'circle', longitude: (index % 1_000) * 0.01, latitude: Math.floor(index / 1_000) * 0.01, radiusM },
    rules: '',
    tag: 't',
  });
  let built = 0;
  const counting = fencesWith({
    build: (boxes, done) =>
      threadBuilder.build(boxes, (packed) => {
        done(packed);
        built++;
      }),
    close: async () => {},
  });
  for (const set of [fences, counting]) {
    for (let index = 0; index < 30_000; index++) set.setUnindexed(`f${index}`, at(index, 100));
    set.indexAll();
  }
  for (let index = 0; index < 2_000; index++) {
    fences.set(`f${index}`, at(index, 600));
    counting.set(`f${index}`, at(index, 600));
  }
  for (let index = 0; index < 100; index++) counting.delete(`f${index}`);
  await expect.poll(() => built).toBeGreaterThan(0);
  for (let index = 0; index < 100; index++) fences.delete(`f${index}`);
  for (let index = 0; index < 2_000; index++) {
    const [x, y] = [(index * 0.37) % 10, (index * 0.011) % 0.3];
    const ids = (set: MonitoredFences) =>
      [...set.candidates(x, y, 20).subarray(0, set.candidateCount)].map((row) => set.idOf(row)).sort();
    expect(ids(counting)).toEqual(ids(fences));
  }
});

test('fences with equal rules share one object, compiled for evaluation', () => {
  const fences = fencesWith(threadBuilder);
  const shape = { type: 'circle', longitude: 0, latitude: 0, radiusM: 10 } as const;
  const rules = JSON.stringify({
    enabled: false,
    disableAfter: 5,
    deleteAfter: 6,
    stopDetection: true,
    dwellThreshold_min: 3,
    operatingHours: { Mon: [['09:00', '17:00']] },
    timeZone: 'UTC',
    userIds: ['ann'],
    ip: '10.0.0.0/8',
  });
  fences.set('a', { generation: 1, shape, rules, tag: 'one' });
  fences.set('b', { generation: 1, shape, rules, tag: 'one' });
  fences.set('c', { generation: 1, shape, rules: '', tag: 'two' });
  const [a, b, c] = ['a', 'b', 'c'].map((id) => fences.rules(fences.rowOf(id)));
  expect(a).toBe(b);
  expect(c).toMatchObject({ enabled: true, disableAfterMs: Infinity, hours: null, userIds: null, addresses: null });
  expect(a).toMatchObject({
    enabled: false,
    disableAfterMs: 5,
    deleteAfterMs: 6,
    stopDetection: true,
    dwellThreshold_min: 3,
  });
  expect(a?.userIds?.has('ann')).toBe(true);
  expect(a?.addresses?.('10.1.2.3')).toBe(true);
  expect(a?.addresses?.('11.1.2.3')).toBe(false);
  const monday = Date.UTC(2024, 0, 1);
  expect(a?.hours?.(monday + 10 * 3_600_000)).toBe(true);
  expect(a?.hours?.(monday + 20 * 3_600_000)).toBe(false);
  expect([fences.tagged('one'), fences.tagged('two'), fences.tagged('none')]).toEqual([2, 1, 0]);
  fences.delete('a');
  expect(fences.tagged('one')).toBe(1);
});
