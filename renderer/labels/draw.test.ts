import fc from 'fast-check';
import { expect, test } from 'vitest';
import { haloRings } from './draw.js';
import { pixelsOfLabel, textStyleFor } from './testing/styles.js';
import type { TextStyle } from './text/text-style.js';

test('a halo without blur is one stroke, and none without a width', () => {
  expect(haloRings({ haloWidthPx: 2, haloBlurPx: 0 })).toEqual([{ radiusPx: 2, alpha: 1 }]);
  expect(haloRings({ haloWidthPx: 0, haloBlurPx: 2 })).toEqual([]);
});

test('a softened halo fades outwards around its width, from full to nothing', () => {
  const px = fc.double({ min: 0.25, max: 8, noNaN: true });
  fc.assert(
    fc.property(px, px, (haloWidthPx, haloBlurPx) => {
      const rings = haloRings({ haloWidthPx, haloBlurPx });
      let covered = 0;
      for (const [i, { radiusPx, alpha }] of rings.entries()) {
        expect(alpha).toBeGreaterThan(0);
        expect(alpha).toBeLessThanOrEqual(1);
        expect(radiusPx).toBeLessThan(rings[i - 1]?.radiusPx ?? Infinity);
        const before = covered;
        covered += (1 - covered) * alpha;
        if (radiusPx > haloWidthPx) expect(before).toBeLessThan(0.5);
        else expect(covered).toBeGreaterThan(0.5);
      }
    }),
  );
});

/** Returns how much a pixel of a drawn letter is covered by a black halo, 0 to 255. */
function drawn(style: Partial<TextStyle>, text = 'I') {
  const textStyle = textStyleFor(text, { sizePx: 60, color: '#000000', haloColor: '#000000', ...style });
  const placement = { runs: [{ text, x: 50, y: 50, angle: 0 }], boxes: [] };
  const pixels = pixelsOfLabel(textStyle, placement, 100, 100);
  return { alphaAt: (x: number, y: number) => 255 - pixels[4 * (y * 100 + x)]! };
}

test('pixels of a softened halo lose opacity with their distance', () => {
  const soft = drawn({ haloWidthPx: 10, haloBlurPx: 6 });
  const row = Array.from({ length: 30 }, (_, i) => soft.alphaAt(60 + i, 50));
  const levels = new Set(row.filter((alpha) => alpha > 0 && alpha < 255));
  expect(row).toEqual([...row].sort((a, b) => b - a));
  expect(levels.size).toBeGreaterThan(3);
  const hard = drawn({ haloWidthPx: 10 });
  const edge = Array.from({ length: 30 }, (_, i) => hard.alphaAt(60 + i, 50));
  expect(new Set(edge.filter((alpha) => alpha > 0 && alpha < 255)).size).toBeLessThanOrEqual(2);
});
