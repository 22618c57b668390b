import { Color } from '@maplibre/maplibre-gl-style-spec';
import { createCanvas } from '@napi-rs/canvas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { Surface } from '../draw/surface.js';
import { bytesOf } from '../pixels.js';
import { imagesOf } from '../testing/sprites.js';
import type { PixelBox } from '../types.js';
import type { PlacedIcon } from './label.js';
import { paintIcon } from './paint-icon.js';

const [width, height] = [40, 30];

/** A translucent dot on a square, so that pixels have many colours and opacities. */
const image = (
  await imagesOf({
    dot: {
      width: 12,
      height: 12,
      paint(context) {
        context.fillStyle = '#3060c080';
        context.fillRect(1, 1, 10, 10);
        context.fillStyle = '#e0a020';
        context.arc(6, 6, 4, 0, 2 * Math.PI);
        context.fill();
      },
    },
  })
).get('dot')!;

function iconAt(x: number, y: number, length: number, opacity: number): PlacedIcon {
  const side = { parts: [{ from: 0, to: 12, start: 0, end: length }], length, before: 0 };
  const paint = { image, size: 1, opacity, color: Color.black, haloColor: Color.black, haloWidthPx: 0 };
  return { paint, x, y, columns: side, rows: side, angle: 0, boxes: [] };
}

function painted(icon: PlacedIcon, scale: number, boxes: readonly PixelBox[]): Uint8ClampedArray {
  const surface = new Surface(width, height);
  surface.replacePixels().fill(0xffc0d0e0);
  for (const box of boxes) paintIcon(surface, scale, icon, box);
  return bytesOf(surface.pixels).slice();
}

test('an icon has the pixels that the drawing engine would give it, whatever boxes divide the picture', () => {
  const whole = { minX: 0, minY: 0, maxX: width, maxY: height };
  fc.assert(
    fc.property(
      fc.record({
        x: fc.double({ min: -4, max: 24, noNaN: true }),
        y: fc.double({ min: -4, max: 20, noNaN: true }),
        length: fc.integer({ min: 6, max: 20 }),
        opacity: fc.double({ min: 0, max: 1, noNaN: true }),
        scale: fc.constantFrom(1, 2),
        cut: fc.integer({ min: 0, max: width }),
      }),
      ({ x, y, length, opacity, scale, cut }) => {
        const icon = iconAt(x, y, length, opacity);
        const side = length * scale;
        const context = createCanvas(width, height).getContext('2d');
        context.fillStyle = '#e0d0c0';
        context.fillRect(0, 0, width, height);
        context.globalAlpha = opacity;
        context.drawImage(
          image.canvas(),
          Math.round(x * scale - side / 2),
          Math.round(y * scale - side / 2),
          side,
          side,
        );
        const engine = context.canvas.data();
        const ours = painted(icon, scale, [whole]);
        // Both round channels once more where an icon is scaled.
        const errors = Array.from(ours, (value, i) => Math.abs(value - engine[i]!));
        expect(Math.max(...errors)).toBeLessThanOrEqual(3);
        expect(
          painted(icon, scale, [
            { ...whole, maxX: cut },
            { ...whole, minX: cut },
          ]),
        ).toEqual(ours);
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});
