import { createCanvas } from '@napi-rs/canvas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawSource } from '../testing/pictures.js';
import { sourceOf } from '../testing/tiles.js';
import { adjustColors, colorMatrix, type RasterColor } from './raster-color.js';

/** The steps of the style specification, one after the other, on channels of 0 to 1. */
function expected([r, g, b]: readonly [number, number, number], color: RasterColor): number[] {
  const angle = (color.hueRotate * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const spin = [(2 * cos + 1) / 3, (-Math.sqrt(3) * sin - cos + 1) / 3, (Math.sqrt(3) * sin - cos + 1) / 3] as const;
  const dot = (x: number, y: number, z: number) => r * x + g * y + b * z;
  const spun = [dot(spin[0], spin[1], spin[2]), dot(spin[2], spin[0], spin[1]), dot(spin[1], spin[2], spin[0])];
  const average = (r + g + b) / 3;
  const gray = color.saturation > 0 ? 1 - 1 / (1.001 - color.saturation) : -color.saturation;
  const steepness = color.contrast > 0 ? 1 / (1 - color.contrast) : 1 + color.contrast;
  return spun
    .map((value) => value + (average - value) * gray)
    .map((value) => (value - 0.5) * steepness + 0.5)
    .map((value) => color.brightnessMin + (color.brightnessMax - color.brightnessMin) * value)
    .map((value) => Math.max(0, Math.min(255, Math.round(255 * value))));
}

const share = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const colors = fc.record({
  hueRotate: share(-360, 360),
  saturation: share(-1, 0.9),
  contrast: share(-1, 0.9),
  brightnessMin: share(0, 1),
  brightnessMax: share(0, 1),
});
const channel = fc.integer({ min: 0, max: 255 });

test('one matrix equals hue, saturation, contrast and brightness one after the other', () => {
  fc.assert(
    fc.property(fc.tuple(channel, channel, channel), channel, colors, ([r, g, b], alpha, color) => {
      const matrix = colorMatrix(color);
      fc.pre(matrix !== null);
      const pixels = Uint8ClampedArray.from([r, g, b, alpha]);
      adjustColors(pixels, matrix!);
      const steps = expected([r / 255, g / 255, b / 255], color);
      for (const [i, value] of steps.entries()) expect(Math.abs(pixels[i]! - value)).toBeLessThanOrEqual(1);
      expect(pixels[3]).toBe(alpha);
    }),
  );
});

const plain = { hueRotate: 0, saturation: 0, contrast: 0, brightnessMin: 0, brightnessMax: 1 };

test('defaults and whole turns change nothing', () => {
  expect([colorMatrix(plain), colorMatrix({ ...plain, hueRotate: 360 })]).toEqual([null, null]);
});

test.each([
  [{}, '#c86432'],
  [{ 'raster-saturation': -1 }, '#757575'],
  [{ 'raster-hue-rotate': 120 }, '#32c864'],
  [{ 'raster-brightness-max': 0.5 }, '#643219'],
  [{ 'raster-contrast': -1 }, '#808080'],
])('a raster layer with %j turns orange into %s', async (paint, color) => {
  const canvas = createCanvas(256, 256);
  const context = canvas.getContext('2d');
  context.fillStyle = '#c86432';
  context.fillRect(0, 0, 256, 256);
  const source = sourceOf(async () => canvas.toBuffer('image/png'), { kind: 'raster', tileSizePx: 256 });
  const picture = await drawSource(source, [{ type: 'raster', source: 'tiles', paint }]);
  for (const i of [1, 3, 5]) {
    const of = (text: string) => Number.parseInt(text.slice(i, i + 2), 16);
    expect(Math.abs(of(picture.at(256, 256)) - of(color))).toBeLessThanOrEqual(1);
  }
});
