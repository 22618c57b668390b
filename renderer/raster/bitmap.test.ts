import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inkOf } from './ink.js';
import { bitmapOf, blended } from './testing/pictures.js';

const channel = fc.integer({ min: 0, max: 255 });
const color = fc.tuple(channel, channel, channel);
const opacity = fc.integer({ min: 0, max: 256 });

test('each pixel of a run moves towards the colour by the opacity, and stays opaque', () => {
  const pixels = fc.array(fc.tuple(color, fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pixels, color, opacity, fc.nat(), fc.nat(), (runs, above, share, a, b) => {
      const before = Uint32Array.from(runs.flatMap(([below, count]) => Array(count).fill(inkOf(...below, 1).word)));
      const [from, to] = [a % (before.length + 1), b % (before.length + 1)].sort((x, y) => x - y) as [number, number];
      const ink = { word: inkOf(...above, 1).word, opacity: share };
      const bitmap = bitmapOf(before.length, before);
      bitmap.paint(from, to, ink);
      const expected = before.map((pixel, i) => (i >= from && i < to ? blended(pixel, ink) : pixel));
      expect(bitmap.pixels).toEqual(expected);
    }),
  );
});
