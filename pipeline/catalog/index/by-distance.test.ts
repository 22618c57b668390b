import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { createRulesCompiler } from '../store/tables/fence-rules.js';
import { nearestFences } from './by-distance.js';
import { MonitoredFences } from './monitored-fences.js';
import { createTreeBuilder } from './tree-builder.js';

const builder = createTreeBuilder();
afterAll(() => builder.close());

const tagOf = (id: string): string => (Number(id.slice(1)) % 2 === 0 ? 'even' : 'odd');

/** Adds a small fence so many metres north of the point that searches start from, or moves it there. */
function place(fences: MonitoredFences, id: string, northM: number): void {
  const shape = { type: 'circle', longitude: 0, latitude: northM / 111_000, radiusM: 10 } as const;
  fences.set(id, { generation: 1, shape, rules: '', tag: tagOf(id) });
}

const northM = fc.constantFrom(0, 100, 700, 1_500, 7_000, 90_000, 9_000_000);
const id = fc.nat(12).map((number) => `f${number}`);
const change = fc.record({ id, northM, deletes: fc.boolean() });

test('a search returns every fence that exists throughout, and none twice, whatever changes in between', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(id, northM), { maxLength: 12 }),
      fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }),
      fc.constantFrom(undefined, ['even']),
      (before, changesByStep, tags) => {
        const fences = new MonitoredFences({ builder, compileRules: createRulesCompiler() });
        for (const [one, metres] of before) place(fences, one, metres);
        const throughout = new Set(before.map(([one]) => one));
        const found: string[] = [];
        let step = 0;
        for (const nearest of nearestFences(fences, 0, 0, { tags, accepts: () => true })) {
          if (nearest) found.push(nearest.id);
          for (const { id: changed, northM: metres, deletes } of changesByStep[step++] ?? []) {
            // A fence that moves past the search may be missed, as one that is created there.
            if (throughout.delete(changed) || deletes) fences.delete(changed);
            else place(fences, changed, metres);
          }
        }
        expect(new Set(found).size).toBe(found.length);
        for (const one of throughout) {
          if (tags === undefined || tagOf(one) === 'even') expect(found).toContain(one);
        }
      },
    ),
    { numRuns: propertyRuns(900) },
  );
});
