import { createCanvas } from '@napi-rs/canvas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { Surface } from '../../draw/surface.js';
import { setFont } from '../../fonts.js';
import { bytesOf } from '../../pixels.js';
import type { PixelBox } from '../../types.js';
import type { Run } from '../label.js';
import { textStyleFor } from '../testing/styles.js';
import { baselineEm, textWidth } from '../text/measure.js';
import type { TextStyle } from '../text/text-style.js';
import { fieldText, paintText } from './paint-text.js';
import { runLetters } from './run-letters.js';

const width = 220;
const height = 120;
const whole: PixelBox = { minX: 0, minY: 0, maxX: width, maxY: height };

function paint(
  style: TextStyle,
  runs: readonly Run[],
  scale: number,
  boxes: readonly PixelBox[] = [whole],
  ground = 0xffc0d0e0,
): Uint32Array {
  const surface = new Surface(width, height);
  surface.replacePixels().fill(ground);
  const text = fieldText(style, runs, scale)!;
  for (const box of boxes) paintText(surface, scale, text, box);
  return surface.pixels.slice();
}

/** Factor by which a text is drawn larger, so that the engine's hinting and rounding do not count. */
const samples = 8;

/** The same by the drawing engine, which strokes and fills outlines. Returns channels, each the mean of its samples. */
function drawn(style: TextStyle, { text, x, y, angle }: Run, scale: number): Float64Array {
  const context = createCanvas(width * samples, height * samples).getContext('2d');
  context.fillStyle = '#e0d0c0';
  context.fillRect(0, 0, width * samples, height * samples);
  const factor = scale * samples;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  context.setTransform(cos, sin, -sin, cos, x * factor, y * factor);
  setFont(context, style.sizePx * factor, style);
  context.letterSpacing = `${style.letterSpacingPx * factor}px`;
  const down = baselineEm(text) * style.sizePx * factor;
  const left = (-textWidth(text, style) / 2) * factor;
  context.lineJoin = 'round';
  context.lineWidth = 2 * style.haloWidthPx * factor;
  context.strokeStyle = style.haloColor;
  if (style.haloWidthPx > 0) context.strokeText(text, left, down);
  context.fillStyle = style.color;
  context.fillText(text, left, down);
  const means = new Float64Array(4 * width * height);
  for (const [i, value] of context.canvas.data().entries()) {
    const pixel = i >> 2;
    const column = Math.floor((pixel % (width * samples)) / samples);
    const row = Math.floor(pixel / (width * samples) / samples);
    means[4 * (row * width + column) + (i & 3)]! += value / samples ** 2;
  }
  return means;
}

/** Returns the sum of the differences of all channels. */
const difference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a, (value, i) => Math.abs(value - b[i]!)).reduce((sum, each) => sum + each, 0);

const letters = fc.string({ unit: fc.constantFrom(...'AVTeyogßéñЖщλ東京1'), minLength: 1, maxLength: 9 });
const styles = fc
  .record({
    text: letters,
    sizePx: fc.integer({ min: 10, max: 24 }),
    letterSpacingPx: fc.constantFrom(0, 0, 1.5),
    haloWidthPx: fc.constantFrom(0, 1, 1.5),
    angle: fc.oneof(fc.constant(0), fc.double({ min: -Math.PI, max: Math.PI, noNaN: true })),
    x: fc.double({ min: 40, max: 60, noNaN: true }),
    y: fc.double({ min: 20, max: 30, noNaN: true }),
    scale: fc.constantFrom(1, 2),
  })
  .map(({ text, angle, x, y, scale, ...style }) => ({
    style: textStyleFor(text, { ...style, color: '#203040', haloColor: '#ffffff' }),
    run: { text, x, y, angle } satisfies Run,
    scale,
  }));

test('texts look as if their outlines were stroked and filled', () => {
  const ground = bytesOf(new Uint32Array(width * height).fill(0xffc0d0e0));
  fc.assert(
    fc.property(styles, ({ style, run, scale }) => {
      const ours = bytesOf(paint(style, [run], scale));
      const outlines = drawn(style, run, scale);
      const ink = difference(outlines, ground);
      expect(difference(ours, outlines)).toBeLessThan(0.3 * ink);
      expect(difference(ours, ground)).toBeGreaterThan(0.88 * ink);
      // A field blurs what is thin: a 1 of 10 px by itself is a quarter bolder, and longer texts up to an eighth.
      expect(difference(ours, ground)).toBeLessThan((run.text.length > 3 ? 1.13 : 1.27) * ink);
    }),
    { numRuns: propertyRuns(12) },
  );
});

test('light letters are bolder than dark ones, so that they do not look thin on dark maps', () => {
  const inkOf = (letterColor: string, ground: number) => {
    const style = textStyleFor('Via Roma', { sizePx: 12, color: letterColor });
    const pixels = paint(style, [{ text: 'Via Roma', x: 100, y: 50, angle: 0 }], 1, [whole], ground);
    return difference(bytesOf(pixels), bytesOf(new Uint32Array(pixels.length).fill(ground)));
  };
  const dark = inkOf('#000000', 0xffffffff);
  expect(inkOf('#ffffff', 0xff000000) / dark).toBeGreaterThan(1.15);
  expect(inkOf('#ffffff', 0xff000000) / dark).toBeLessThan(1.45);
});

test('a text is the same in boxes that divide the picture, and after other texts', () => {
  const cuts = fc.record({
    cutX: fc.integer({ min: 1, max: width - 1 }),
    cutY: fc.integer({ min: 1, max: height - 1 }),
  });
  fc.assert(
    fc.property(styles, cuts, ({ style, run, scale }, { cutX, cutY }) => {
      const boxes = [
        { ...whole, maxX: cutX },
        { ...whole, minX: cutX, maxY: cutY },
        { ...whole, minX: cutX, minY: cutY },
      ];
      expect(
        Buffer.from(paint(style, [run], scale, boxes).buffer).equals(Buffer.from(paint(style, [run], scale).buffer)),
      ).toBe(true);
    }),
    { numRuns: propertyRuns(25) },
  );
});

test('a part of the picture outside the box is not touched', () => {
  const style = textStyleFor('Wide', { sizePx: 24 });
  const box = { minX: 30, minY: 20, maxX: 60, maxY: 40 };
  const pixels = paint(style, [{ text: 'Wide', x: 45, y: 30, angle: 0.4 }], 1, [box]);
  const touched = [...pixels.keys()]
    .filter((i) => pixels[i] !== 0xffc0d0e0)
    .map((i) => [i % width, Math.floor(i / width)]);
  expect(touched.length).toBeGreaterThan(50);
  for (const [x, y] of touched) expect(x! >= 30 && x! < 60 && y! >= 20 && y! < 40).toBe(true);
});

test('sections have their own colours above one halo', () => {
  const style = textStyleFor('ab', { sizePx: 20, haloWidthPx: 2, haloColor: '#ffff00' });
  const run = (text: string, x: number, color: string): Run => ({
    text,
    x,
    y: 30,
    angle: 0,
    section: { font: style, color },
  });
  const pixels = paint(style, [run('I', 40, '#ff0000'), run('I', 46, '#0000ff')], 2);
  const colors = new Set(pixels);
  // Red and blue letters, and their common halo.
  for (const color of [0xff0000ff, 0xffff0000, 0xff00ffff]) expect(colors.has(color)).toBe(true);
  const row = 60 * width;
  const from = pixels.indexOf(0xff0000ff, row);
  const to = pixels.indexOf(0xffff0000, from);
  expect(pixels.subarray(from, to).every((color) => color !== 0xffc0d0e0)).toBe(true);
});

test.each([
  ['letters that join', 'شارع', {}],
  ['very large letters', 'I', { sizePx: 120 }],
  ['a halo wider than fields', 'I', { sizePx: 10, haloWidthPx: 6 }],
])('%s are left to the drawing engine', (_what, text, style) => {
  expect(fieldText(textStyleFor(text, style), [{ text, x: 0, y: 0, angle: 0 }], 1)).toBeUndefined();
});

test('letters are kerned, and together as wide as the whole text', () => {
  const style = textStyleFor('AVATAR Te.', { sizePx: 32 });
  const { letters, widthEm } = runLetters('AVATAR Te.', style)!;
  expect(letters.map(({ field }) => field === null)).toEqual([...'AVATAR Te.'].map((letter) => letter === ' '));
  expect(widthEm * 32).toBeCloseTo(textWidth('AVATAR Te.', style), 0);
  const apart = runLetters('A', style)!.widthEm;
  expect(letters[1]!.xEm).toBeLessThan(apart);
});
