import fc from 'fast-check';
import geodesic from 'geographiclib-geodesic';
import { describe, expect, test } from 'vitest';
import { fillWithPaper, openFrame } from '../draw/frame.js';
import type { LineList } from '../draw/vertices.js';
import type { Position, Viewport } from '../types.js';
import { worldPixel, worldSizePx } from '../view/projection.js';
import { fenceRing } from './fences.js';
import { chainLines, ringLines } from './lines.js';
import { createOverlays } from './overlays.js';

const view: Viewport = { center: [11.25, 43.77], zoom: 14, width: 300, height: 200, scale: 1 };

test("a circle's ring lies at its radius, on the ellipsoid", () => {
  const center = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -80, max: 80, noNaN: true }),
  );
  fc.assert(
    fc.property(center, fc.double({ min: 10, max: 10_000, noNaN: true }), ([longitude, latitude], radiusM) => {
      const ring = fenceRing({ type: 'circle', center: [longitude, latitude], radiusM });
      expect(ring.length).toBeGreaterThan(30);
      for (const [x, y] of ring) {
        const distanceM = geodesic.Geodesic.WGS84.Inverse(latitude, longitude, y, x).s12 as number;
        // Far less than a pixel where the whole circle is in view.
        expect(Math.abs(distanceM - radiusM)).toBeLessThan(radiusM * 0.006);
      }
    }),
  );
});

describe('a chain', () => {
  const position: fc.Arbitrary<Position> = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -85, max: 85, noNaN: true }),
  );
  const anyView = fc.record({
    center: position,
    zoom: fc.double({ min: 0, max: 4, noNaN: true }),
    width: fc.integer({ min: 100, max: 2_048 }),
    height: fc.constant(400),
    scale: fc.constant(1),
  });

  /** x of the first position in every copy of the world that the image shows it in. */
  function visibleX({ center, zoom, width }: Viewport, first: Position): number[] {
    const worldPx = worldSizePx(zoom);
    const x = worldPixel(first, zoom)[0] - worldPixel(center, zoom)[0] + width / 2;
    return Array.from({ length: 41 }, (_, index) => x + (index - 20) * worldPx).filter((one) => one > 0 && one < width);
  }

  const verticesOf = ({ xy }: LineList): [number, number][] =>
    Array.from({ length: xy.length / 2 }, (_, i) => [xy[2 * i]!, xy[2 * i + 1]!]);

  test.each([
    ['line', (anyWhere: Viewport, positions: Position[]) => chainLines(anyWhere, positions, 3), 2],
    ['ring', (anyWhere: Viewport, positions: Position[]) => ringLines(anyWhere, positions, 3), 1],
  ] as const)('as a %s is drawn in every copy of the world in which it is seen', (_, linesOf, minLength) => {
    fc.assert(
      fc.property(anyView, fc.array(position, { minLength, maxLength: 5 }), (anyWhere, positions) => {
        const vertices = verticesOf(linesOf(anyWhere, positions));
        for (const one of positions) {
          const y =
            worldPixel(one, anyWhere.zoom)[1] - worldPixel(anyWhere.center, anyWhere.zoom)[1] + anyWhere.height / 2;
          if (y < 0 || y > anyWhere.height) continue;
          for (const x of visibleX(anyWhere, one)) {
            expect(
              vertices.some(([vertexX, vertexY]) => Math.abs(vertexX - x) < 0.02 && Math.abs(vertexY - y) < 0.02),
            ).toBe(true);
          }
        }
      }),
    );
  });

  test('that circles the world often takes space proportional to its length', () => {
    const worldwide = { ...view, center: [0, 0] as const, zoom: 1, width: 2_048, height: 2_048 };
    const around = Array.from({ length: 10_000 }, (_, index): Position => [((index * 120) % 360) - 180, index % 60]);
    expect(verticesOf(chainLines(worldwide, around, 3)).length).toBeLessThan(60_000);
  });

  test('across the antimeridian does not cross the map', () => {
    const fiji = { ...view, center: [180, -17] as const, zoom: 6 };
    const positions: Position[] = [
      [179, -17],
      [-179, -17],
    ];
    const [from, to] = verticesOf(chainLines(fiji, positions, 3)).map(([x]) => x) as [number, number];
    expect(Math.abs(to - from)).toBeLessThan(200);
  });
});

test('boxes for labels include all markers and the attribution, which fits into a narrow image', () => {
  const narrow = { ...view, width: 100 };
  const markers = [
    {
      color: [255, 0, 0, 1] as const,
      size: 'small' as const,
      icon: null,
      locations: [
        [11.25, 43.77],
        [11.26, 43.77],
      ] as const,
    },
  ];
  const { boxes } = createOverlays(
    narrow,
    { markers, paths: [], fences: [] },
    new Map(),
    'A long line of attribution for a narrow image',
  );
  expect(boxes).toHaveLength(3);
  expect(boxes[0]).toEqual({ minX: 41, minY: 73, maxX: 59, maxY: 100 });
  expect(boxes[2]?.minX).toBeGreaterThanOrEqual(0);
  expect(boxes[2]?.maxY).toBe(200);
});

test('a marker has its colour and its tip at its position', () => {
  const frame = openFrame(view, new Map());
  fillWithPaper(frame);
  const markers = [{ color: [255, 0, 0, 1] as const, size: 'normal' as const, icon: null, locations: [view.center] }];
  createOverlays(view, { markers, paths: [], fences: [] }, new Map(), '').paintAbove(frame.surface);
  const pixel = (x: number, y: number) => [...frame.surface.context.getImageData(x, y, 1, 1).data.subarray(0, 3)];
  expect(pixel(142, 70)).toEqual([255, 0, 0]);
  expect(pixel(150, 70)).toEqual([255, 255, 255]);
  expect(pixel(150, 110)).toEqual([255, 255, 255]);
});

test('the hole of a white marker is dark', () => {
  const frame = openFrame(view, new Map());
  const markers = [
    { color: [255, 255, 255, 1] as const, size: 'normal' as const, icon: null, locations: [view.center] },
  ];
  createOverlays(view, { markers, paths: [], fences: [] }, new Map(), '').paintAbove(frame.surface);
  const pixel = (x: number, y: number) => [...frame.surface.context.getImageData(x, y, 1, 1).data.subarray(0, 3)];
  expect(pixel(142, 70)).toEqual([255, 255, 255]);
  expect(pixel(150, 70)).toEqual([0x3a, 0x3f, 0x47]);
});

test('attribution is light on dark maps and dark on light ones', () => {
  const shadesOf = (isDark: boolean) => {
    const frame = openFrame(view, new Map());
    const ground = isDark ? '#102030' : '#f0f0f0';
    frame.surface.context.fillStyle = ground;
    frame.surface.context.fillRect(0, 0, view.width, view.height);
    createOverlays(view, { markers: [], paths: [], fences: [] }, new Map(), 'Somebody', isDark).paintAbove(
      frame.surface,
    );
    const strip = frame.surface.context
      .getImageData(view.width - 40, view.height - 15, 40, 15)
      .data.filter((_, i) => i % 4 === 0);
    return { lightest: Math.max(...strip), darkest: Math.min(...strip) };
  };
  expect(shadesOf(true)).toMatchObject({
    lightest: expect.toSatisfy((value) => value > 150),
    darkest: expect.toSatisfy((value) => value < 30),
  });
  expect(shadesOf(false)).toMatchObject({
    lightest: expect.toSatisfy((value) => value > 230),
    darkest: expect.toSatisfy((value) => value < 100),
  });
});

const path = { stroke: [0, 0, 255, 1], width: 8, border: [255, 255, 255, 1], borderWidth: 2 } as const;

/** Returns the pixels of a white map with overlays below labels, as words of hexadecimal digits. */
function below(overlays: Partial<Parameters<typeof createOverlays>[1]>) {
  const frame = openFrame(view, new Map());
  fillWithPaper(frame);
  const all = { markers: [], paths: [], fences: [], ...overlays };
  createOverlays(view, all, new Map(), '').paintBelow(frame.surface);
  return (x: number, y: number) => frame.surface.pixels[y * view.width + x]!.toString(16);
}

test('a path of a device that stays in one place is a dot', () => {
  const at = below({
    paths: [{ ...path, stroke: [255, 0, 0, 1], locations: [view.center, view.center, view.center] }],
  });
  expect([at(150, 100), at(152, 100), at(150, 98)]).toEqual(['ff0000ff', 'ff0000ff', 'ff0000ff']);
  expect([at(158, 100), at(150, 108)]).toEqual(['ffffffff', 'ffffffff']);
});

test('where a translucent path crosses itself it is seen once, above its border', () => {
  const [longitude, latitude] = view.center;
  const locations: Position[] = [
    [longitude - 0.005, latitude],
    [longitude + 0.005, latitude],
    [longitude, latitude + 0.002],
    [longitude, latitude - 0.002],
  ];
  const at = below({ paths: [{ ...path, stroke: [0, 0, 255, 0.5], border: [255, 0, 0, 1], locations }] });
  // Half blue on red, on the line and where it crosses itself.
  expect([at(120, 100), at(150, 100)]).toEqual(['ff800080', 'ff800080']);
  expect(at(120, 105)).toBe('ff0000ff');
});

test('a geofence is tinted inside and outlined, in both winding orders', () => {
  const [longitude, latitude] = view.center;
  const ring: Position[] = [
    [longitude - 0.003, latitude - 0.002],
    [longitude + 0.003, latitude - 0.002],
    [longitude + 0.003, latitude + 0.002],
    [longitude - 0.003, latitude + 0.002],
  ];
  const inside = below({ fences: [{ type: 'polygon', ring }] })(150, 100);
  expect(inside).not.toBe('ffffffff');
  for (const fence of [ring, ring.toReversed()]) {
    const at = below({ fences: [{ type: 'polygon', ring: fence }] });
    expect(at(150, 100)).toBe(inside);
    expect(at(10, 10)).toBe('ffffffff');
    const row = Array.from({ length: view.width }, (_, x) => Number.parseInt(at(x, 100).slice(-2), 16));
    expect(Math.min(...row)).toBeLessThan(40);
  }
});
