import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Position } from '../../schemas/json/common.js';
import { workloads } from './all.js';
import { drawFleet, type Fixes } from './fleet.js';
import type { Fence } from './workload.js';

const seeds = fc.integer({ min: 1, max: 1_000_000 });
const few = { numRuns: 10 };

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** The haversine formula, in metres. */
function distanceM([x1, y1]: Position, [x2, y2]: Position): number {
  const [dx, dy] = [radians(x2 - x1), radians(y2 - y1)];
  const h = Math.sin(dy / 2) ** 2 + Math.cos(radians(y1)) * Math.cos(radians(y2)) * Math.sin(dx / 2) ** 2;
  return 2 * 6_371_008 * Math.asin(Math.sqrt(h));
}

const limits: Readonly<Record<string, { radiusM: [number, number]; vertices: [number, number] }>> = {
  cities: { radiusM: [50, 500], vertices: [0, 0] },
  polygons: { radiusM: [100, 2_000], vertices: [4, 2_000] },
  overlap: { radiusM: [5_000, 100_000], vertices: [0, 0] },
  sparse: { radiusM: [50, 500], vertices: [0, 0] },
};

describe.each(workloads)('workload $name', (workload) => {
  const fences = (count: number, seed: number): Fence[] => [...workload.fences(count, seed)];

  test('the seed decides everything', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(fences(10, seed)).toEqual(fences(10, seed));
        expect(fences(10, seed)).not.toEqual(fences(10, seed + 1));
        expect(workload.places(40, seed)).toEqual(workload.places(40, seed));
      }),
      few,
    );
  });

  test('fences have the documented sizes, and numbers without gaps', () => {
    const { radiusM, vertices } = limits[workload.name]!;
    fc.assert(
      fc.property(seeds, (seed) => {
        const all = fences(20, seed);
        expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => index));
        for (const { center, radiusM: radius, ring } of all) {
          expect(radius).toBeGreaterThanOrEqual(radiusM[0]);
          expect(radius).toBeLessThanOrEqual(radiusM[1]);
          expect(Math.abs(center[0])).toBeLessThanOrEqual(180);
          expect(Math.abs(center[1])).toBeLessThanOrEqual(85);
          const corners = ring === null ? 0 : ring.length - 1;
          expect(corners).toBeGreaterThanOrEqual(vertices[0]);
          expect(corners).toBeLessThanOrEqual(vertices[1]);
          if (ring === null) continue;
          expect(ring.at(-1)).toEqual(ring[0]);
          expect(Math.max(...ring.map((corner) => distanceM(center, corner)))).toBeLessThanOrEqual(radius * 1.01);
        }
      }),
      few,
    );
  });

  test('the shares of its places add up to 1', () => {
    const sum = workload.places(10_000, 1).reduce((total, { share }) => total + share, 0);
    expect(sum).toBeCloseTo(1, 9);
  });
});

describe('fleet', () => {
  const { places, speedsMps } = workloads[0]!;
  const fleet = (devices: number, count: number, seed: number): Fixes =>
    drawFleet({ devices, count, places: places(2_000, seed), speedsMps, seed });

  test('the seed decides everything', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 50 }), (seed, devices) => {
        expect(fleet(devices, 500, seed)).toEqual(fleet(devices, 500, seed));
        expect(fleet(devices, 500, seed).longitudes).not.toEqual(fleet(devices, 500, seed + 1).longitudes);
      }),
      few,
    );
  });

  test('a longer run begins with the shorter one, and every device comes first', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 50 }), (seed, devices) => {
        const [short, long] = [fleet(devices, 200, seed), fleet(devices, 400, seed)];
        expect(long.latitudes.subarray(0, 200)).toEqual(short.latitudes);
        expect([...long.devices.subarray(0, devices)]).toEqual(Array.from({ length: devices }, (_, index) => index));
      }),
      few,
    );
  });

  test('a fix is late exactly if its device has sent a newer one', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { count, devices, timesMs, late } = fleet(20, 5_000, seed);
        const newest = new Map<number, number>();
        const expected = new Uint8Array(count);
        for (let index = 0; index < count; index++) {
          const before = newest.get(devices[index]!) ?? 0;
          expected[index] = timesMs[index]! < before ? 1 : 0;
          newest.set(devices[index]!, Math.max(before, timesMs[index]!));
        }
        expect(late).toEqual(expected);
      }),
      { numRuns: 3 },
    );
  });

  test('no device is faster than its speed and the error of its receiver', () => {
    const { count, devices, longitudes, latitudes, accuraciesM, timesMs } = fleet(20, 10_000, 7);
    const last = new Map<number, number>();
    const tooFast: number[] = [];
    for (let index = 0; index < count; index++) {
      const before = last.get(devices[index]!);
      last.set(devices[index]!, index);
      if (before === undefined) continue;
      const seconds = Math.abs(timesMs[index]! - timesMs[before]!) / 1_000;
      const errorM = 5 * (accuraciesM[index]! + accuraciesM[before]!);
      const at = (which: number): Position => [longitudes[which]!, latitudes[which]!];
      if (distanceM(at(before), at(index)) > speedsMps[1] * seconds + errorM) tooFast.push(index);
    }
    expect(tooFast).toEqual([]);
  });

  test('there are bursts, and late fixes are a few of a hundred', () => {
    const { count, devices, late } = fleet(200, 50_000, 7);
    const lateCount = late.reduce((sum, each) => sum + each, 0);
    expect(lateCount / count).toBeGreaterThan(0.001);
    expect(lateCount / count).toBeLessThan(0.03);
    const inBursts = devices.filter((device, index) => device === devices[index - 1] && late[index] === 0);
    expect(inBursts.length / count).toBeGreaterThan(0.001);
  });
});
