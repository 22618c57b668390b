import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dayMs } from '../../schemas/durations.js';
import { createRandom } from '../../schemas/random.js';
import { buildCity } from '../../simulation/city.js';
import { createFleet } from '../../simulation/fleet.js';
import { outingsOf, pastOf } from './fleet-past.js';

const seed = fc.nat();
const span = fc
  .record({ fromMs: fc.integer({ min: 0, max: 2_000_000_000_000 }), days: fc.integer({ min: 1, max: 10 }) })
  .map(({ fromMs, days }) => ({ fromMs, toMs: fromMs + days * dayMs }));

it('gives each device outings that do not overlap, the last of which ends with the span', () => {
  fc.assert(
    fc.property(seed, span, (number, whole) => {
      const outings = outingsOf(whole, createRandom(number));
      const times = outings.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]).toBeGreaterThanOrEqual(whole.fromMs);
      expect(times.at(-1)).toBe(whole.toMs);
    }),
  );
});

it('reports each device in order of time, and identically for the same seed', () => {
  const city = buildCity();
  const reports = () => [...pastOf(createFleet(city, 3), { fromMs: 0, toMs: 2 * dayMs }, createRandom(7))];
  const first = reports();
  expect(reports()).toEqual(first);
  for (const { deviceId } of createFleet(city, 3)) {
    const times = first.filter((fix) => fix.deviceId === deviceId).map(({ updatedAtMs }) => updatedAtMs);
    expect(times.length).toBeGreaterThan(50);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  }
});
