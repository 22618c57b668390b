import { PbfReader } from 'pbf';
import { expect, test } from 'vitest';
import { glyphRange, rangeLength } from './glyphs.js';

interface Glyph {
  id: number;
  bitmap: Uint8Array;
  width: number;
  height: number;
  left: number;
  top: number;
  advance: number;
}

/** Reads the format as its definition has it (mapbox/node-fontnik, `proto/glyphs.proto`). */
function read(bytes: Uint8Array): { name: string; range: string; glyphs: Map<number, Glyph> } {
  const stack = { name: '', range: '', glyphs: new Map<number, Glyph>() };
  new PbfReader(bytes).readFields((_tag, _, reader) => {
    reader.readMessage((tag, into, inner) => {
      if (tag === 1) into.name = inner.readString();
      else if (tag === 2) into.range = inner.readString();
      else if (tag === 3) {
        const glyph: Glyph = { id: 0, bitmap: new Uint8Array(), width: 0, height: 0, left: 0, top: 0, advance: 0 };
        inner.readMessage((field, each, value) => {
          if (field === 1) each.id = value.readVarint();
          else if (field === 2) each.bitmap = value.readBytes();
          else if (field === 3) each.width = value.readVarint();
          else if (field === 4) each.height = value.readVarint();
          else if (field === 5) each.left = value.readSVarint();
          else if (field === 6) each.top = value.readSVarint();
          else if (field === 7) each.advance = value.readVarint();
        }, glyph);
        into.glyphs.set(glyph.id, glyph);
      }
    }, stack);
  }, null);
  return stack;
}

const glyphsOf = (face: Parameters<typeof glyphRange>[0], start: number) => read(glyphRange(face, start));
const idOf = (character: string) => character.codePointAt(0)!;

test('a range has the characters of the fonts, each with a border of three pixels', () => {
  const { range, glyphs } = glyphsOf('regular', 0);
  expect(range).toBe('0-255');
  for (const character of '!09AZazßÿ ') expect(glyphs.has(idOf(character)), character).toBe(true);
  expect(glyphs.has(0x0a)).toBe(false);
  for (const { bitmap, width, height } of glyphs.values())
    expect(bitmap.length).toBe(width * height === 0 ? 0 : (width + 6) * (height + 6));
});

test('a field is high inside a letter, and low at its border', () => {
  const { bitmap, width, height } = glyphsOf('bold', 0).glyphs.get(idOf('I'))!;
  const row = Math.floor((height + 6) / 2);
  const across = bitmap.subarray(row * (width + 6), (row + 1) * (width + 6));
  expect(Math.max(...across)).toBeGreaterThan(192);
  expect(across[0]).toBeLessThan(160);
});

test('letters stand on one line: the top of x is the difference of the heights below that of H', () => {
  const { glyphs } = glyphsOf('regular', 0);
  const [high, low, blank] = ['H', 'x', ' '].map((character) => glyphs.get(idOf(character))!);
  expect(high!.top - low!.top).toBe(high!.height - low!.height);
  expect(blank).toMatchObject({ width: 0, height: 0 });
  expect(blank!.advance).toBeGreaterThan(4);
});

test.each([
  ['Arabic', 0x0600, 'ع'],
  ['Thai', 0x0e00, 'ก'],
  ['Han', 0x5300, '北'],
  ['Georgian', 0x1000, 'თ'],
  ['Burmese', 0x1000, 'ရ'],
  ['Bengali', 0x0900, 'ঢ'],
])('%s has glyphs', (_script, start, character) => {
  expect(glyphsOf('regular', start).glyphs.get(idOf(character))?.bitmap.length).toBeGreaterThan(100);
});

test('characters that no font has are left out, instead of boxes', () => {
  expect(glyphsOf('regular', 0xe000).glyphs.size).toBe(0);
  expect(glyphsOf('regular', 65_536 - rangeLength).glyphs.size).toBeLessThan(rangeLength);
});

test('faces differ', () => {
  const faces = (['regular', 'medium', 'bold', 'italic'] as const).map((face) =>
    glyphsOf(face, 0).glyphs.get(idOf('R')),
  );
  expect(new Set(faces.map((glyph) => Buffer.from(glyph!.bitmap).toString('base64'))).size).toBe(faces.length);
});
