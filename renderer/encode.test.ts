import { createCanvas } from '@napi-rs/canvas';
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { encodeImage } from './encode.js';
import { bytesOf, wordsOf } from './pixels.js';
import { encodeIndexedPng } from './png/indexed-png.js';
import { maxError } from './png/palette.js';
import { bitmapOf } from './raster/testing/pictures.js';

/** Red, green, blue and opacity of each pixel of a file, by a decoder that isn't ours. */
const decoded = async (file: Uint8Array) => sharp(file).ensureAlpha().raw().toBuffer();

/** Pixels of these colours, `0xRRGGBB`. */
const pixelsOf = (colors: readonly number[]): Uint8Array =>
  Uint8Array.from(colors.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255, 255]));

const errorsOf = (drawn: Uint8Array, read: Uint8Array): Uint8Array =>
  drawn.map((value, i) => Math.abs(value - read[i]!));
const largest = (errors: Uint8Array): number => errors.reduce((most, error) => Math.max(most, error), 0);

const color = fc.integer({ min: 0, max: 0xffffff });

test('a picture of at most 256 colours is encoded exactly', async () => {
  const picture = fc
    .tuple(
      fc.array(color, { minLength: 1, maxLength: 256 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
    )
    .chain(([colors, width, height]) =>
      fc.record({
        width: fc.constant(width),
        height: fc.constant(height),
        colors: fc.array(fc.constantFrom(...colors), { minLength: width * height, maxLength: width * height }),
      }),
    );
  await fc.assert(
    fc.asyncProperty(picture, async ({ width, height, colors }) => {
      const pixels = pixelsOf(colors);
      const file = await encodeIndexedPng(bitmapOf(width, wordsOf(pixels)));
      expect(await sharp(file!).metadata()).toMatchObject({ format: 'png', width, height, isPalette: true });
      expect(Buffer.from(pixels).equals(await decoded(file!))).toBe(true);
    }),
  );
});

test('pixels differ at most by the bound, and the most frequent colours are exact', async () => {
  const near = fc.tuple(
    color,
    fc.array(
      fc.nat({ max: 0x3f3f3f }).map((bits) => bits & 0x3f3f3f),
      { minLength: 200, maxLength: 900 },
    ),
  );
  let encoded = 0;
  await fc.assert(
    fc.asyncProperty(near, async ([base, offsets]) => {
      const common = Array.from({ length: 60 }, (_, i) => (base + i) & 0xffffff);
      const colors = [...common.flatMap((each) => Array(20).fill(each)), ...offsets.map((offset) => base ^ offset)];
      const pixels = pixelsOf(colors);
      const file = await encodeIndexedPng(bitmapOf(colors.length, wordsOf(pixels)));
      if (!file) return;
      encoded++;
      const errors = errorsOf(pixels, await decoded(file));
      expect(largest(errors)).toBeLessThanOrEqual(maxError);
      expect(largest(errors.subarray(0, 4 * 20 * common.length))).toBe(0);
    }),
  );
  expect(encoded).toBeGreaterThan(20);
});

test('rare colours that are far from all others have space', async () => {
  // Each frequent colour takes an entry unless differences of more than 7 are allowed.
  const frequent = Array.from({ length: 320 }, (_, i) => ((8 * (i % 20)) << 16) | ((8 * (i >> 4)) << 8));
  const rare = [0x0000ff, 0xffffff, 0xffff00, 0x00ffff, 0xff00ff];
  const pixels = pixelsOf([...frequent.flatMap((each) => Array(9).fill(each)), ...rare]);
  const file = await encodeIndexedPng(bitmapOf(pixels.length / 4, wordsOf(pixels)));
  expect(largest(errorsOf(pixels, await decoded(file!)))).toBeLessThanOrEqual(maxError);
});

test('pictures that are encoded at the same time do not mix, whatever their sizes', async () => {
  // The largest has more pixels than are kept for the next picture.
  const sizes = [300, 40, 1_030, 7, 300];
  const pictures = sizes.map((width, i) => {
    const pixels = new Uint8Array(4 * width * width).fill(255);
    for (let at = 0; at < pixels.length; at += 4) pixels.fill((at / 4 + 5 * i) % 50, at, at + 3);
    return pixels;
  });
  const files = await Promise.all(pictures.map((pixels, i) => encodeIndexedPng(bitmapOf(sizes[i]!, wordsOf(pixels)))));
  for (const [i, file] of files.entries())
    expect(Buffer.from(pictures[i]!).equals(await decoded(file!)), `picture ${i}`).toBe(true);
});

/** Areas whose colours differ by little, edges and text that are smoothed, something translucent. */
function mapLike(): Uint32Array {
  const canvas = createCanvas(900, 600);
  const context = canvas.getContext('2d');
  context.fillStyle = '#f2efe9';
  context.fillRect(0, 0, 900, 600);
  for (let i = 0; i < 300; i++) {
    context.fillStyle = ['#f0ede7', '#cfe3c0', '#aad3df', '#dfd7cd'][i % 4]!;
    context.beginPath();
    context.ellipse((i * 137) % 900, (i * 71) % 600, 20 + (i % 30), 12 + (i % 17), i, 0, 7);
    context.fill();
    context.strokeStyle = i % 2 ? '#ffffff' : '#e892a2aa';
    context.lineWidth = 1 + (i % 5);
    context.stroke();
    context.fillStyle = '#333333';
    context.fillText(`Via ${i}`, (i * 53) % 900, (i * 97) % 600);
  }
  return wordsOf(canvas.data());
}

test('a map has half the size of full colour, with a mean error of half a level', async () => {
  const words = mapLike();
  const pixels = Buffer.from(bytesOf(words));
  const { bytes, contentType } = await encodeImage(bitmapOf(900, words), 'png');
  const fullColor = await sharp(pixels, { raw: { width: 900, height: 600, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 3 })
    .toBuffer();
  expect(contentType).toBe('image/png');
  expect(bytes.length).toBeLessThan(0.6 * fullColor.length);
  const errors = errorsOf(pixels, await decoded(bytes));
  expect(largest(errors)).toBeLessThanOrEqual(maxError);
  expect(errors.reduce((sum, error) => sum + error, 0) / (0.75 * errors.length)).toBeLessThan(0.5);
});

/** The same at each run, and unlike its neighbours. */
const noise = (i: number): number => Math.imul(i ^ (i >>> 7), Math.imul(i, 0x9e3779b1) | 1) >>> 24;

test('a photograph is encoded in full colour', async () => {
  const pixels = new Uint8Array(4 * 300 * 300).map((_, i) => (i % 4 === 3 ? 255 : noise(i)));
  const words = wordsOf(pixels);
  expect((await encodeIndexedPng(bitmapOf(300, words))) === null).toBe(true);
  const { bytes } = await encodeImage(bitmapOf(300, words), 'png');
  expect(Buffer.from(pixels).equals(await decoded(bytes))).toBe(true);
});

test.each([
  ['webp', 'image/webp'],
  ['jpg', 'image/jpeg'],
] as const)('%s', async (format, contentType) => {
  const { bytes, contentType: said } = await encodeImage(bitmapOf(900, mapLike()), format);
  expect(said).toBe(contentType);
  expect(await sharp(bytes).metadata()).toMatchObject({
    format: format === 'jpg' ? 'jpeg' : format,
    width: 900,
    height: 600,
  });
});
