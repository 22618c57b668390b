import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameOf, frameOfOutline, longitudeNear, unwrapped } from './antimeridian.js';

const longitude = fc.integer({ min: -180, max: 180 });
const positions = fc.array(fc.tuple(longitude, fc.integer({ min: -85, max: 85 })), { maxLength: 12 });
const turnOf = (degrees: number): number => (((degrees % 360) + 540) % 360) - 180;

describe('a line over the antimeridian', () => {
  test('goes on beyond 180 degrees', () => {
    const ring: [number, number][] = [
      [179, 0],
      [-179, 0],
      [-179, 1],
      [179, 1],
      [179, 0],
    ];
    expect(unwrapped(ring).map(([x]) => x)).toEqual([179, 181, 181, 179, 179]);
    expect(longitudeNear(-179, 540)).toBe(541);
  });

  test('has the same positions, and no step of more than half a turn', () => {
    fc.assert(
      fc.property(positions, (line) => {
        const flat = unwrapped(line);
        expect(flat.map(([x, y]) => [turnOf(x), y])).toEqual(line.map(([x, y]) => [turnOf(x), y]));
        for (const [index, [x]] of flat.entries())
          if (index > 0) expect(Math.abs(x - flat[index - 1]![0])).toBeLessThanOrEqual(180);
      }),
    );
  });

  test('is the same list if it crosses nothing', () => {
    const line: [number, number][] = [
      [-90, 0],
      [90, 0],
    ];
    expect(unwrapped(line)).toBe(line);
    expect(unwrapped([])).toEqual([]);
  });
});

describe('a frame', () => {
  test('has all positions, and none that starts at another one is narrower', () => {
    fc.assert(
      fc.property(positions, (some) => {
        const frame = frameOf(some);
        if (some.length === 0) return void expect(frame).toBeUndefined();
        const widthFrom = (west: number) => Math.max(...some.map(([x]) => (((x - west) % 360) + 360) % 360));
        const [[west, south], [east, north]] = frame!;
        expect(east - west).toBe(Math.min(...some.map(([x]) => widthFrom(x))));
        expect(east - west).toBeGreaterThanOrEqual(widthFrom(west));
        expect([south, north]).toEqual([Math.min(...some.map(([, y]) => y)), Math.max(...some.map(([, y]) => y))]);
      }),
    );
  });

  // A polygon from 150 W over 0 to 150 E lay half beside the map, whose frame began at 0 as that of its points does.
  test('of an outline has all of its edges', () => {
    const wide: [number, number][] = [
      [-150, 0],
      [0, 0],
      [150, 0],
      [150, 10],
      [0, 10],
      [-150, 10],
      [-150, 0],
    ];
    expect(frameOfOutline(wide)).toEqual([
      [-150, 0],
      [150, 10],
    ]);
    fc.assert(
      fc.property(positions, (line) => {
        const frame = frameOfOutline(line);
        if (line.length === 0) return void expect(frame).toBeUndefined();
        const longitudes = unwrapped(line).map(([x]) => x);
        const [[west], [east]] = frame!;
        expect(east - west).toBe(Math.max(...longitudes) - Math.min(...longitudes));
        expect(turnOf(west)).toBe(turnOf(Math.min(...longitudes)));
      }),
    );
  });
});
