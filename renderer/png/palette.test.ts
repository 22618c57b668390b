import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../types.js';
import { type ChangedBox, choosePalette, countChanged, countColors, kept, pixelsIn } from './palette.js';

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

/** Fills boxes of a picture. Returns all pixels, and those of the boxes as they are in the end. */
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
  const partOf = (box: PixelBox): ChangedBox => {
    const rows = Array.from({ length: box.maxY - box.minY }, (_, row) =>
      pixels.subarray((box.minY + row) * width + box.minX, (box.minY + row) * width + box.maxX),
    );
    return { box, pixels: Uint32Array.from(rows.flatMap((row) => [...row])) };
  };
  return { pixels, parts: places.map(partOf) };
}

/** Returns the palette and each pixel's entry. */
function encoded(counted: ReturnType<typeof countColors>) {
  const palette = counted && choosePalette(counted);
  return palette && { colors: palette.channels, entries: counted.numbers.map((number) => palette.entryOf[number]!) };
}

test('a picture that differs from a known one is encoded as if it was counted from the beginning', () => {
  const picture = fc.tuple(side, side, fc.array(fc.nat({ max: 0xffffff }), { minLength: 1, maxLength: 500 }), boxes);
  fc.assert(
    fc.property(picture, ([width, height, colors, drawn]) => {
      const before = Uint32Array.from({ length: width * height }, (_, i) => colors[(i * 7) % colors.length]!);
      const { pixels, parts } = changed(before, width, height, drawn);
      const fresh = encoded(countColors(pixels));
      const known = kept(countColors(before)!);
      expect(encoded(countChanged(known, width, parts))).toEqual(fresh);
    }),
  );
});

test('a kept picture gives the pixels of each box', () => {
  fc.assert(
    fc.property(side, side, boxes, (width, height, drawn) => {
      const { pixels, parts } = changed(new Uint32Array(width * height), width, height, drawn);
      const picture = kept(countColors(pixels)!);
      countColors(Uint32Array.of(1, 2, 3));
      for (const { box, pixels: part } of parts) expect(pixelsIn(picture, width, box)).toEqual(part);
    }),
  );
});

test('a picture of too many colours is neither counted nor changed to', () => {
  const width = 200;
  const all = Uint32Array.from({ length: width * width }, (_, i) => i);
  expect(countColors(all)).toBeNull();
  const known = kept(countColors(new Uint32Array(width * width))!);
  const box = { minX: 0, minY: 0, maxX: width, maxY: width };
  expect(countChanged(known, width, [{ box, pixels: all }])).toBeNull();
});
