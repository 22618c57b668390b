import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Coordinates } from '../../tiles/coordinates.js';
import { clippedLines } from './clip-lines.js';

const box = { minX: 0, minY: 0, maxX: 100, maxY: 60 };
const vertex = fc.tuple(fc.integer({ min: -80, max: 180 }), fc.integer({ min: -80, max: 140 }));
const lines = fc.array(fc.array(vertex, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 3 });

type Vertices = readonly (readonly [x: number, y: number])[];

function coordinatesOf(parts: readonly Vertices[]): Coordinates {
  const ends: number[] = [];
  let end = 0;
  for (const part of parts) {
    end += 2 * part.length;
    ends.push(end);
  }
  return { xy: parts.flat(2), ends };
}

/** Returns the points that a walk in small steps along the lines visits, in order. */
function walk(parts: readonly Vertices[], closed: boolean): [x: number, y: number][] {
  return parts.flatMap((part) =>
    (closed ? [...part, part[0]!] : part).slice(1).flatMap(([toX, toY], i): [number, number][] => {
      const [x, y] = part[i]!;
      return Array.from({ length: 40 }, (_, step) => {
        const share = (step + 0.5) / 40;
        return [x + share * (toX - x), y + share * (toY - y)];
      });
    }),
  );
}

function isOn(xy: readonly number[], x: number, y: number): boolean {
  for (let i = 2; i < xy.length; i += 2) {
    const [ax, ay, bx, by] = [xy[i - 2]!, xy[i - 1]!, xy[i]!, xy[i + 1]!];
    const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1);
    const nearest = Math.max(0, Math.min(1, along));
    if (Math.hypot(ax + nearest * (bx - ax) - x, ay + nearest * (by - ay) - y) < 1e-6) return true;
  }
  return false;
}

test('the parts are what lies inside the box, and nothing else', () => {
  fc.assert(
    fc.property(lines, fc.boolean(), (parts, closed) => {
      const clipped = clippedLines(coordinatesOf(parts), closed, box);
      for (const [x, y] of walk(parts, closed)) {
        const isInside = x > box.minX && x < box.maxX && y > box.minY && y < box.maxY;
        if (isInside) expect(clipped.some((part) => isOn(part, x, y))).toBe(true);
      }
      const whole = (closed ? parts.map((part) => [...part, part[0]!]) : parts).map((part) => part.flat());
      for (const part of clipped) {
        expect(part.length).toBeGreaterThanOrEqual(4);
        for (let i = 0; i < part.length; i += 2) {
          const [x, y] = [part[i]!, part[i + 1]!];
          expect(x).toBeGreaterThanOrEqual(box.minX - 1e-9);
          expect(x).toBeLessThanOrEqual(box.maxX + 1e-9);
          expect(y).toBeGreaterThanOrEqual(box.minY - 1e-9);
          expect(y).toBeLessThanOrEqual(box.maxY + 1e-9);
          expect(whole.some((line) => isOn(line, x, y))).toBe(true);
        }
      }
    }),
  );
});

test('a line inside the box stays as it is, without repeated vertices', () => {
  const line = [10, 10, 20, 10, 20, 10, 20, 50];
  expect(clippedLines({ xy: line, ends: [8] }, false, box)).toEqual([[10, 10, 20, 10, 20, 50]]);
});

test('a line that leaves the box and returns has two parts', () => {
  const line = [50, 30, 150, 30, 150, 40, 50, 40];
  expect(clippedLines({ xy: line, ends: [8] }, false, box)).toEqual([
    [50, 30, 100, 30],
    [100, 40, 50, 40],
  ]);
});
