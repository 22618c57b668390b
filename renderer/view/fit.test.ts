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

/** CSS pixels that the items, as arranged, reach beyond the image on any side; negative: room left. */
function overhang(view: ReturnType<typeof fitView>, chains: readonly FitItem[]): number {
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const beyond = chains.flatMap(({ positions, margins }) =>
    positions.map((one) => {
      const [x, y] = worldPixel(one, view.zoom);
      return Math.max(
        Math.abs(x - centerX - (margins.left - margins.right) / 2) + (margins.left + margins.right) / 2 - view.width / 2,
        Math.abs(y - centerY - (margins.top - margins.bottom) / 2) + (margins.top + margins.bottom) / 2 - view.height / 2,
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
  test('shows everything, and a view a little nearer would not', () => {
    fc.assert(
      fc.property(items, (given) => {
        const chains = gathered(given);
        const view = fitView(anywhere, given, size);
        if (view.zoom === 1) return;
        expect(overhang(view, chains)).toBeLessThanOrEqual(-19);
        const isOnePlace = span(chains) === 0;
        if (view.zoom < 23 && !isOnePlace) expect(overhang({ ...view, zoom: view.zoom + 0.01 }, chains)).toBeGreaterThan(-31);
      }),
    );
  });

  test('shows everything above what is covered, as in an image that ends there', () => {
    fc.assert(
      fc.property(items, fc.nat(100), (given, coveredPx) => {
        const view = fitView(anywhere, given, size, coveredPx);
        if (view.zoom === 1) return;
        const height = size.height - coveredPx;
        const free = fitView(anywhere, given, { ...size, height });
        expect(view.zoom).toBe(free.zoom);
        const [x, y] = worldPixel(view.center, view.zoom);
        const [freeX, freeY] = worldPixel(free.center, free.zoom);
        expect([x, y - coveredPx / 2]).toEqual([expect.closeTo(freeX, 2), expect.closeTo(freeY, 2)]);
      }),
    );
  });

  test('around a given centre shows everything as near as it can', () => {
    fc.assert(
      fc.property(items, position, (given, center) => {
        const view = fitView({ ...anywhere, center }, given, size);
        expect(view.center).toEqual(center);
        if (view.zoom === 1) return;
        const shifted = {
          ...view,
          center: [center[0] + 360 * Math.round((mean(gathered(given)) - center[0]) / 360), center[1]] as const,
        };
        expect(overhang(shifted, gathered(given))).toBeLessThan(0);
      }),
    );
  });

  test('keeps a given zoom and stands in the middle', () => {
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

  test('of one place goes near enough to read the streets', () => {
    expect(fitView(anywhere, [{ positions: [[11, 43]], margins: pin }], size).zoom).toBe(15);
  });

  test('across the antimeridian goes the short way', () => {
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

  test('of a box fits it exactly, also across the antimeridian', () => {
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

test('gathered things lie as close together as any arrangement of copies does', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), (given) => {
      const chains = given.map((one) => ({ ...one, positions: unwrapped(one.positions) }));
      const least = Math.min(...[...arrangements(chains)].map(span));
      expect(span(gathered(given))).toBeLessThanOrEqual(least + 1e-9);
    }),
  );
});

test('neighbours of an unwrapped chain are never more than half a world apart', () => {
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
