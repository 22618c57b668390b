import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blended, inkOf, paintRun } from './picture.js';

const channel = fc.integer({ min: 0, max: 255 });
const color = fc.tuple(channel, channel, channel);
const opacity = fc.integer({ min: 0, max: 256 });

test('a pixel moves towards the colour by the opacity, and stays opaque', () => {
  fc.assert(
    fc.property(color, color, opacity, (below, above, share) => {
      const result = blended(inkOf(...below, 1).word, inkOf(...above, 1).word, share);
      const channels = [0, 8, 16, 24].map((shift) => (result >>> shift) & 255);
      const expected = below.map((value, i) => Math.floor(value + ((above[i]! - value) * share) / 256 + 0.5));
      expect(channels).toEqual([...expected, 255]);
    }),
  );
});

test('a run of pixels equals its pixels one by one', () => {
  const pixels = fc.array(fc.tuple(color, fc.integer({ min: 1, max: 30 })), { maxLength: 6 });
  fc.assert(
    fc.property(pixels, color, opacity, fc.nat(), fc.nat(), (runs, above, share, a, b) => {
      const before = Uint32Array.from(runs.flatMap(([below, count]) => Array(count).fill(inkOf(...below, 1).word)));
      const [from, to] = [a % (before.length + 1), b % (before.length + 1)].sort((x, y) => x - y) as [number, number];
      const { word } = inkOf(...above, 1);
      const after = before.slice();
      paintRun(after, from, to, word, share);
      const expected = before.map((pixel, i) => (i >= from && i < to ? blended(pixel, word, share) : pixel));
      expect(after).toEqual(expected);
    }),
  );
});
