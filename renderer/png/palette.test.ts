import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Bitmap } from '../raster/bitmap.js';
import { bitmapOf } from '../raster/testing/pictures.js';
import type { PixelBox } from '../types.js';
import { type Counted, countChanged, countColors, kept, pixelsIn } from './colors.js';
import { choosePalette } from './palette.js';

interface Drawn {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly colors: readonly number[];
}

const side = fc.integer({ min: 1, max: 40 });
const boxes: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({
    left: fc.nat({ max: 39 }),
    top: fc.nat({ max: 39 }),
    width: fc.nat({ max: 20 }),
    height: fc.nat({ max: 20 }),
    colors: fc.array(fc.nat({ max: 0xffffff }), { minLength: 1, maxLength: 60 }),
  }),
  { maxLength: 4 },
);

/** Fills boxes of a picture. Returns all pixels, and the boxes. */
function changed(before: Uint32Array, width: number, height: number, drawn: readonly Drawn[]) {
  const pixels = before.slice();
  const places = drawn.map(({ left, top, width: wide, height: high, colors }): PixelBox => {
    const [minX, minY] = [Math.min(left, width - 1), Math.min(top, height - 1)];
    const box = { minX, minY, maxX: Math.min(width, minX + wide), maxY: Math.min(height, minY + high) };
    let position = 0;
    for (let y = minY; y < box.maxY; y++)
      for (let x = minX; x < box.maxX; x++) pixels[y * width + x] = colors[position++ % colors.length]!;
    return box;
  });
  return { pixels, places };
}

/** Returns the palette and each pixel's entry. */
function encoded(bitmap: Bitmap, counted: Counted | null) {
  const palette = counted && choosePalette(bitmap, counted);
  return palette && { colors: palette.channels, entries: counted.numbers.map((number) => palette.entryOf[number]!) };
}

test('a picture that differs from a known one is encoded as if it was counted from the beginning', () => {
  const picture = fc.tuple(side, side, fc.array(fc.nat({ max: 0xffffff }), { minLength: 1, maxLength: 500 }), boxes);
  fc.assert(
    fc.property(picture, ([width, height, colors, drawn]) => {
      const before = Uint32Array.from({ length: width * height }, (_, i) => colors[(i * 7) % colors.length]!);
      const { pixels, places } = changed(before, width, height, drawn);
      const bitmap = bitmapOf(width, pixels);
      const fresh = encoded(bitmap, countColors(bitmap));
      const known = kept(countColors(bitmapOf(width, before))!);
      expect(encoded(bitmap, countChanged(bitmap, known, places))).toEqual(fresh);
    }),
  );
});

test('a kept picture gives the pixels of each box', () => {
  fc.assert(
    fc.property(side, side, boxes, (width, height, drawn) => {
      const { pixels, places } = changed(new Uint32Array(width * height), width, height, drawn);
      const bitmap = bitmapOf(width, pixels);
      const picture = kept(countColors(bitmap)!);
      bitmap.pixels.fill(1);
      countColors(bitmap);
      for (const box of places) {
        const rows = Array.from({ length: box.maxY - box.minY }, (_, row) => [
          ...pixels.subarray((box.minY + row) * width + box.minX, (box.minY + row) * width + box.maxX),
        ]);
        expect([...pixelsIn(picture, width, box)]).toEqual(rows.flat());
      }
    }),
  );
});

test('a picture of too many colours is neither counted nor changed to', () => {
  const width = 200;
  const all = Uint32Array.from({ length: width * width }, (_, i) => i);
  const bitmap = bitmapOf(width, all);
  expect(countColors(bitmap)).toBeNull();
  const known = kept(countColors(bitmapOf(width, new Uint32Array(width * width)))!);
  expect(countChanged(bitmap, known, [bitmap.area])).toBeNull();
});

test('each colour has its number of pixels, and rows have the entry of each', () => {
  const picture = fc.tuple(side, fc.array(fc.tuple(fc.nat({ max: 9 }), side), { minLength: 1, maxLength: 60 }));
  fc.assert(
    fc.property(picture, ([height, runs]) => {
      const width = Math.ceil(runs.reduce((sum, [, length]) => sum + length, 0) / height);
      const all = runs.flatMap(([value, length]) => Array<number>(length).fill(0x10203 * value));
      const bitmap = bitmapOf(
        width,
        Uint32Array.from({ length: width * height }, (_, i) => all[i % all.length]!),
      );
      const pixels = bitmap.pixels.slice();
      const { colors, counts, numbers } = countColors(bitmap)!;
      for (let number = 1; number < colors.length; number++)
        expect(counts[number]).toBe(pixels.filter((pixel) => pixel === colors[number]).length);
      const { painters } = bitmap;
      new Uint8Array(painters.memory.buffer, painters.entriesAt.value).set(colors.map((_, i) => 7 * i));
      const expected = Array.from({ length: height }, (_, y) => [
        0,
        ...Array.from(numbers.subarray(y * width, (y + 1) * width), (number) => 7 * number),
      ]);
      painters.writeRows();
      const rows = new Uint8Array(painters.memory.buffer, painters.pixelsAt.value, (width + 1) * height);
      expect([...rows]).toEqual(expected.flat());
    }),
  );
});
