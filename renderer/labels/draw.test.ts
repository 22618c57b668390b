import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Surface } from '../draw/surface.js';
import { drawLabels, haloRings } from './draw.js';
import { candidateOf, pixelsOfLabel, textStyleFor } from './testing/styles.js';
import type { TextStyle } from './text/text-style.js';

test('a halo without blur is one stroke, and none without a width', () => {
  expect(haloRings({ haloWidthPx: 2, haloBlurPx: 0 }, 1)).toEqual([{ radiusPx: 2, alpha: 1 }]);
  expect(haloRings({ haloWidthPx: 0, haloBlurPx: 2 }, 1)).toEqual([]);
});

// The shaders of MapLibre GL JS add the edge of a letter, which is the same width of the image at all scales.
test('a softened halo fades further than its blur, by an edge of the same device pixels', () => {
  const middleOf = (scale: number, haloBlurPx: number) => {
    const radii = haloRings({ haloWidthPx: 20, haloBlurPx }, scale).map(({ radiusPx }) => radiusPx);
    return (radii[0]! - 20) / (1 - 1 / radii.length);
  };
  expect(middleOf(1, 2)).toBeCloseTo(1.19 * 2 + 0.84, 5);
  expect(middleOf(2, 2)).toBeCloseTo(1.19 * 2 + 0.42, 5);
});

test('a softened halo fades outwards around its width, from full to nothing', () => {
  const px = fc.double({ min: 0.25, max: 8, noNaN: true });
  fc.assert(
    fc.property(px, px, (haloWidthPx, haloBlurPx) => {
      const rings = haloRings({ haloWidthPx, haloBlurPx }, 1);
      expect(rings).not.toEqual([]);
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
  const placement = { runs: [{ text, x: 50, y: 50, angle: 0 }], boxes: [{ minX: 0, minY: 0, maxX: 100, maxY: 100 }] };
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

test('each label of a large map takes memory for its own part only', () => {
  const surface = new Surface(2_000, 1_500);
  surface.replacePixels().fill(0xffffffff);
  const labels = Array.from({ length: 5 }, (_, i) => {
    const [x, y] = [100 + 10 * i, 100 + 30 * i];
    const boxes = [{ minX: x - 30, minY: y - 10, maxX: x + 30, maxY: y + 10 }];
    return { candidate: candidateOf('Ponte', []), placement: { runs: [{ text: 'Ponte', x, y, angle: 0 }], boxes } };
  });
  drawLabels(surface, 1, labels.slice(0, 1));
  const before = process.memoryUsage().arrayBuffers;
  drawLabels(surface, 1, labels);
  const grownBytes = process.memoryUsage().arrayBuffers - before;
  // One byte per pixel of the map would be 3 MB for each label.
  expect(grownBytes).toBeLessThan(1_000_000);
  expect(new Set(surface.pixels).size).toBeGreaterThan(10);
});
