import { Color } from '@maplibre/maplibre-gl-style-spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blurredColors, sharpLine } from './blur.js';

const positive = fc.double({ min: 0.01, max: 50, noNaN: true });

test('a sharp line and its blur have the ink and the spread of the blurred line', () => {
  fc.assert(
    fc.property(positive, positive, (width, blur) => {
      const half = width / 2 + 0.5;
      const slices = 4_000;
      let [ink, moment] = [0, 0];
      for (let i = 0; i < slices; i++) {
        const at = ((i + 0.5) / slices) * half;
        const share = Math.min(1, (half - at) / (blur + 1)) * 2 * (half / slices);
        ink += share;
        moment += share * at ** 2;
      }
      const sharp = sharpLine(width, blur);
      expect(sharp.width).toBeCloseTo(ink, 1);
      const spread = sharp.width ** 2 / 12 + 1 / 12 + sharp.deviation ** 2;
      // A wide line is blurred at its edges only: its spread is that of the two ramps.
      if (half < blur + 1 && sharp.deviation > 0) expect(spread).toBeCloseTo(moment / ink, 1);
    }),
    { numRuns: 50 },
  );
});

const red = new Color(1, 0, 0, 1);
const blue = new Color(0, 0, 1, 1);
const circle = { radius: 10, strokeWidth: 0, blur: 1, fill: red, fillOpacity: 1, stroke: blue, strokeOpacity: 1 };

test('a blurred circle fades from its centre to nothing at its edge', () => {
  const opacities = blurredColors(circle).map(({ a }) => a);
  expect(opacities[0]).toBe(1);
  expect(opacities.at(-1)).toBe(0);
  expect(opacities).toEqual(opacities.toSorted((a, b) => b - a));
});

test('a small blur leaves the inside as it is, and a stroke takes over at its edge', () => {
  const colors = blurredColors({ ...circle, strokeWidth: 10, blur: 0.1 });
  expect([colors[0], colors[6]]).toEqual([red, red]);
  expect([colors[9], colors[14]]).toEqual([blue, blue]);
});
