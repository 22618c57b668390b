import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DrawnFeature, rectangle, tileBytes, type Vertex } from '../../testing/tiles.js';
import { doubledArea } from '../../tiles/coordinates.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import type { VisibleTile } from '../candidates/visible-symbols.js';
import { clipRing, largestArea, pointInArea } from './areas.js';

const box = { minX: 0, minY: 0, maxX: 1000, maxY: 600 };
const tile: VisibleTile = { extent: 4096, unitPx: 1, box, toImage: (x, y) => [x, y] };

/** A star-shaped ring. */
const ring = fc
  .record({
    x: fc.integer({ min: -200, max: 1200 }),
    y: fc.integer({ min: -200, max: 800 }),
    radii: fc.array(fc.integer({ min: 20, max: 500 }), { minLength: 3, maxLength: 12 }),
  })
  .map(({ x, y, radii }) =>
    radii.map((radius, i): Vertex => {
      const angle = (2 * Math.PI * i) / radii.length;
      return [Math.round(x + radius * Math.cos(angle)), Math.round(y + radius * Math.sin(angle))];
    }),
  );

/** Returns whether a point is inside a ring, by ray casting. */
function isInside([x, y]: readonly [number, number], vertices: readonly Vertex[]): boolean {
  let inside = false;
  for (const [i, [x1, y1]] of vertices.entries()) {
    const [x0, y0] = vertices[(i + vertices.length - 1) % vertices.length]!;
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
  }
  return inside;
}

const verticesOf = (xy: readonly number[]) =>
  Array.from({ length: xy.length / 2 }, (_, i): Vertex => [xy[2 * i]!, xy[2 * i + 1]!]);

test('a clipped ring contains the points that are in both ring and box', () => {
  const probe = fc.tuple(fc.integer({ min: -100, max: 1100 }), fc.integer({ min: -100, max: 700 }));
  fc.assert(
    fc.property(ring, fc.array(probe, { minLength: 20, maxLength: 20 }), (vertices, probes) => {
      const cut = verticesOf(clipRing(vertices.flat(), box));
      for (const [x, y] of probes) {
        // A third of a unit off, so that no point is on an edge of the box.
        const point = [x + 1 / 3, y + 1 / 3] as const;
        const isInBox = x >= 0 && x < box.maxX && y >= 0 && y < box.maxY;
        expect(isInside(point, cut)).toBe(isInBox && isInside(point, vertices));
      }
    }),
  );
});

function areaOf(...rings: readonly (readonly Vertex[])[]) {
  const drawn: DrawnFeature = { type: 'polygon', parts: rings };
  return largestArea(decodeVectorTile(tileBytes({ shapes: [drawn] })).layers.get('shapes')!.features[0]!, tile);
}

test('the anchor lies inside the visible part of the area', () => {
  let labelled = 0;
  fc.assert(
    fc.property(ring, (vertices) => {
      const area = areaOf(vertices);
      if (!area) return;
      labelled++;
      const point = pointInArea(area);
      expect(isInside(point, vertices)).toBe(true);
      expect(point[0] >= 0 && point[0] <= box.maxX && point[1] >= 0 && point[1] <= box.maxY).toBe(true);
      expect(area.size).toBeCloseTo(
        Math.abs(doubledArea(clipRing(vertices.flat(), box), 0, clipRing(vertices.flat(), box).length)) / 2,
      );
    }),
  );
  expect(labelled).toBeGreaterThan(50);
});

test('the anchor lies in the largest part, outside its hole', () => {
  const hole = rectangle(150, 150, 850, 450).reverse();
  const [x, y] = pointInArea(areaOf(rectangle(0, 0, 50, 50), rectangle(100, 100, 900, 500), hole)!);
  expect(isInside([x, y], rectangle(100, 100, 900, 500)) && !isInside([x, y], hole)).toBe(true);
});

test('slivers and areas outside the image get no label', () => {
  expect(areaOf(rectangle(10, 10, 900, 12))).toBeNull();
  expect(areaOf(rectangle(2000, 10, 2900, 1200))).toBeNull();
  expect(areaOf(rectangle(999, 10, 2900, 1200))).toBeNull();
});
