import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Camera, Position } from '../types.js';
import { type FitItem, fitView, gathered, type ImageSize, unwrapped } from './fit.js';
import { worldPixel } from './projection.js';

const size: ImageSize = { width: 600, height: 400, scale: 1 };
const anywhere: Camera = { center: null, zoom: null, bbox: null };
const pin = { left: 15, right: 15, top: 45, bottom: 0 };

const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const latitude = fc.double({ min: -85, max: 85, noNaN: true });
const position: fc.Arbitrary<Position> = fc.tuple(longitude, latitude);
const item: fc.Arbitrary<FitItem> = fc.record({
  positions: fc.array(position, { minLength: 1, maxLength: 4 }),
  margins: fc.record({ left: fc.nat(30), right: fc.nat(30), top: fc.nat(50), bottom: fc.nat(30) }),
});
const items = fc.array(item, { minLength: 1, maxLength: 5 });

/** Returns how far the arranged items reach beyond the image on any side, in CSS pixels; negative if they fit. */
function overhang(view: ReturnType<typeof fitView>, chains: readonly FitItem[]): number {
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const beyond = chains.flatMap(({ positions, margins }) =>
    positions.map((one) => {
      const [x, y] = worldPixel(one, view.zoom);
      return Math.max(
        Math.abs(x - centerX - (margins.left - margins.right) / 2) +
          (margins.left + margins.right) / 2 -
          view.width / 2,
        Math.abs(y - centerY - (margins.top - margins.bottom) / 2) +
          (margins.top + margins.bottom) / 2 -
          view.height / 2,
      );
    }),
  );
  return Math.max(...beyond);
}

/** All ways of putting each chain one world to the west, as it is, or to the east. */
function* arrangements(chains: readonly FitItem[]): Generator<FitItem[]> {
  const [first, ...rest] = chains;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const others of arrangements(rest)) {
    for (const world of [-360, 0, 360]) {
      yield [{ ...first, positions: first.positions.map(([x, y]): Position => [x + world, y]) }, ...others];
    }
  }
}

const span = (chains: readonly FitItem[]): number => {
  const all = chains.flatMap(({ positions }) => positions.map(([x]) => x));
  return Math.max(...all) - Math.min(...all);
};

describe('a fitted view', () => {
  test('shows everything, and a slightly larger zoom would not', () => {
    fc.assert(
      fc.property(items, (given) => {
        const chains = gathered(given);
        const view = fitView(anywhere, given, size);
        expect(overhang(view, chains)).toBeLessThanOrEqual(-19);
        const isOnePlace = span(chains) === 0;
        if (view.zoom < 23 && !isOnePlace)
          expect(overhang({ ...view, zoom: view.zoom + 0.01 }, chains)).toBeGreaterThan(-31);
      }),
    );
  });

  test('shows everything above the covered part', () => {
    fc.assert(
      fc.property(items, fc.nat(100), (given, coveredPx) => {
        const view = fitView(anywhere, given, size, coveredPx);
        const height = size.height - coveredPx;
        const free = fitView(anywhere, given, { ...size, height });
        expect(view.zoom).toBe(free.zoom);
        const [x, y] = worldPixel(view.center, view.zoom);
        const [freeX, freeY] = worldPixel(free.center, free.zoom);
        expect([x, y - coveredPx / 2]).toEqual([expect.closeTo(freeX, 2), expect.closeTo(freeY, 2)]);
      }),
    );
  });

  test('around a given centre has the largest zoom that shows everything', () => {
    fc.assert(
      fc.property(items, position, (given, center) => {
        const view = fitView({ ...anywhere, center }, given, size);
        expect(view.center).toEqual(center);
        const shifted = {
          ...view,
          center: [center[0] + 360 * Math.round((mean(gathered(given)) - center[0]) / 360), center[1]] as const,
        };
        expect(overhang(shifted, gathered(given))).toBeLessThan(0);
      }),
    );
  });

  test('keeps a given zoom and is centred', () => {
    const view = fitView(
      { ...anywhere, zoom: 4 },
      [
        {
          positions: [
            [10, 50],
            [20, 50],
          ],
          margins: { ...pin, top: 0 },
        },
      ],
      size,
    );
    expect(view).toMatchObject({ zoom: 4, center: [expect.closeTo(15, 9), expect.closeTo(50, 9)] });
  });

  test('of one position has a zoom at which streets are readable', () => {
    expect(fitView(anywhere, [{ positions: [[11, 43]], margins: pin }], size).zoom).toBe(15);
  });

  test('takes the short way across the antimeridian', () => {
    const view = fitView(
      anywhere,
      [
        { positions: [[179, -17]], margins: pin },
        { positions: [[-179, -17]], margins: pin },
      ],
      size,
    );
    expect(Math.abs(view.center[0])).toBeCloseTo(180, 6);
    expect(view.zoom).toBeGreaterThan(7);
  });

  test('shows the whole world in a small image, although a request may not name such a zoom', () => {
    const small = { width: 100, height: 100, scale: 1 };
    const world = fitView({ ...anywhere, bbox: [-180, -85, 180, 85] }, [], small);
    expect(worldPixel([180, 0], world.zoom)[0] - worldPixel([-180, 0], world.zoom)[0]).toBeCloseTo(100, 0);
    const poles: FitItem[] = [-80, 80].map((y) => ({ positions: [[0, y]], margins: pin }));
    expect(overhang(fitView(anywhere, poles, { ...small, height: 150 }), poles)).toBeLessThan(0);
  });

  test('fits a bbox exactly, also across the antimeridian', () => {
    const view = fitView({ ...anywhere, bbox: [170, -20, -170, -15] }, [], size);
    expect(view.center[0]).toBeCloseTo(180, 6);
    const [west] = worldPixel([170, 0], view.zoom);
    const [east] = worldPixel([190, 0], view.zoom);
    expect(east - west).toBeGreaterThan(598);
    expect(east - west).toBeLessThanOrEqual(600);
  });
});

const mean = (chains: readonly FitItem[]): number => {
  const all = chains.flatMap(({ positions }) => positions.map(([x]) => x));
  return (Math.max(...all) + Math.min(...all)) / 2;
};

test('gathered items are as close together as any arrangement of copies', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), (given) => {
      const chains = given.map((one) => ({ ...one, positions: unwrapped(one.positions) }));
      const least = Math.min(...[...arrangements(chains)].map(span));
      expect(span(gathered(given))).toBeLessThanOrEqual(least + 1e-9);
    }),
  );
});

/** As the renderer once did it: each item in turn is the westernmost, and everything is moved east of it. */
function gatheredByTrying(items: readonly FitItem[]): FitItem[] {
  const chains = items.map((one) => ({ ...one, positions: unwrapped(one.positions) }));
  const westOf = ({ positions }: FitItem) => Math.min(...positions.map(([x]) => x));
  const arranged = chains.map(westOf).map((west) =>
    chains.map((one) => {
      const world = 360 * Math.ceil((west - westOf(one)) / 360 - 1e-12);
      return { ...one, positions: one.positions.map(([x, y]): Position => [x + world, y]) };
    }),
  );
  const least = Math.min(...arranged.map(span));
  return arranged.find((each) => span(each) <= least + 1e-9) ?? [];
}

describe('gathering equals the brute-force search', () => {
  const wholeDegrees = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -85, max: 85 }));
  const longChain = fc.array(wholeDegrees, { minLength: 1, maxLength: 12 });
  const nearAntimeridian = fc.tuple(fc.constantFrom(-180, -179, -178, 178, 179, 180), fc.constant(0));
  const chain = fc.oneof(
    longChain,
    fc.array(wholeDegrees, { minLength: 1, maxLength: 1 }),
    fc.array(nearAntimeridian, { minLength: 1, maxLength: 3 }),
  );
  const manyItems = (positions: fc.Arbitrary<Position[]>) =>
    fc.array(fc.record({ positions, margins: fc.constant(pin) }), { minLength: 1, maxLength: 30 });

  test('in whole degrees, exactly', () => {
    fc.assert(
      fc.property(manyItems(chain), (given) => {
        expect(gathered(given)).toEqual(gatheredByTrying(given));
      }),
      { numRuns: 1_000 },
    );
  });

  test('in any degrees, equally close together', () => {
    const anyChain = fc.array(position, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(manyItems(anyChain), (given) => {
        expect(span(gathered(given))).toBeCloseTo(span(gatheredByTrying(given)), 8);
      }),
    );
  });
});

test('fitting ten thousand markers and a thousand fences is fast', () => {
  const count = 10_000;
  const spread = (index: number): Position => [((index * 137.5) % 360) - 180, ((index * 61.8) % 160) - 80];
  const markers = Array.from({ length: count }, (_, index) => ({ positions: [spread(index)], margins: pin }));
  const fences = Array.from({ length: 1_000 }, (_, index) => ({
    positions: Array.from(
      { length: 100 },
      (_, point): Position => [spread(index)[0] + point / 1_000, spread(index)[1]],
    ),
    margins: pin,
  }));
  const points = count + 100_000;
  expect(fitView(anywhere, readAtMost(50 * points, [...markers, ...fences]), size).zoom).toBeLessThan(1);
});

/** Items whose longitudes can be read so many times. */
function readAtMost(times: number, items: readonly FitItem[]): readonly FitItem[] {
  let reads = 0;
  const watch = (one: Position): Position =>
    new Proxy(one, {
      get(target, name, receiver) {
        if (name === '0' && ++reads > times) throw new RangeError(`longitudes were read more than ${times} times`);
        return Reflect.get(target, name, receiver);
      },
    });
  return items.map((one) => ({ ...one, positions: one.positions.map(watch) }));
}

test('neighbours of an unwrapped chain are at most half a world apart', () => {
  fc.assert(
    fc.property(fc.array(position), (positions) => {
      const chain = unwrapped(positions);
      for (const [index, [x]] of chain.entries()) {
        if (index > 0) expect(Math.abs(x - (chain[index - 1]?.[0] ?? 0))).toBeLessThanOrEqual(180 + 1e-9);
        // Not by the remainder: rounding may leave it just under a whole turn.
        const turns = (x - (positions[index]?.[0] ?? 0)) / 360;
        expect(turns).toBeCloseTo(Math.round(turns), 9);
      }
    }),
  );
});
