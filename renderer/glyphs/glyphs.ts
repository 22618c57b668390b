/**
 * Makes the glyphs of vector maps: signed distance fields of 256 characters each, from the fonts of static maps.
 *
 * Input: a font face and the first character of a range. Output: a protocol buffer as MapLibre styles load it from
 * their `glyphs`. The fields are those of the format's first implementation: 24 pixels, a border of 3, and a radius of
 * 8. A quarter of the radius lies inside the shape.
 */
import TinySDF from '@mapbox/tiny-sdf';
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import { PbfWriter } from 'pbf';
import { commonFonts, type FontFace, type FontFamily, familiesFor, fontPath, setFont } from '../fonts.js';
import { charactersOf } from './characters.js';

/** Characters of a range. */
export const rangeLength = 256;

const sizePx = 24;
const borderPx = 3;
/** Size for which the canvas is made, so that the widest letters are not cut. */
const canvasSizePx = 2 * sizePx;
/** Pixels from the top of a line to its baseline, rounded as the format's first implementation rounds Noto's. */
const ascenderPx = 26;

class Fields extends TinySDF {
  constructor(face: FontFace, families: readonly FontFamily[]) {
    super({ fontSize: canvasSizePx, buffer: borderPx });
    setFont(this.ctx, sizePx, { face, han: 'zh', families });
  }

  protected override _createCanvas(side: number): Canvas {
    return createCanvas(side, side);
  }
}

type HasCharacter = (codePoint: number) => boolean;

const fields = new Map<string, Fields>();
const coverage = new Map<string, HasCharacter>();

/** Returns the glyphs from `start` on, a multiple of 256. Characters that no installed font has are left out. */
export function glyphRange(face: FontFace, start: number): Uint8Array {
  const ids = Array.from({ length: rangeLength }, (_, i) => start + i).filter(isDrawable);
  const families = familiesFor(String.fromCodePoint(...ids));
  const key = [face, ...families.map(({ name }) => name)].join();
  const has = kept(coverage, key, () => hasCharacter(face, families));
  const writer = new PbfWriter();
  writer.writeMessage(1, writeStack, {
    face,
    start,
    ids: ids.filter(has),
    fields: kept(fields, key, () => new Fields(face, families)),
  });
  return writer.finish();
}

function kept<T>(all: Map<string, T>, key: string, create: () => T): T {
  let value = all.get(key);
  if (value === undefined) {
    value = create();
    all.set(key, value);
  }
  return value;
}

function hasCharacter(face: FontFace, families: readonly FontFamily[]): HasCharacter {
  const files = [...commonFonts(), ...families].map((family) => charactersOf(fontPath(family, face)!));
  return (codePoint) => files.some((has) => has(codePoint));
}

/** Control characters and halves of surrogate pairs are not text. */
const isDrawable = (id: number): boolean => id >= 0x20 && (id < 0x7f || id > 0x9f) && (id < 0xd800 || id > 0xdfff);

interface Stack {
  readonly face: FontFace;
  readonly start: number;
  readonly ids: readonly number[];
  readonly fields: Fields;
}

function writeStack({ face, start, ids, fields }: Stack, writer: PbfWriter): void {
  writer.writeStringField(1, `Fenceline Sans ${face}`);
  writer.writeStringField(2, `${start}-${start + rangeLength - 1}`);
  for (const id of ids) writer.writeMessage(3, writeGlyph, { id, fields });
}

function writeGlyph({ id, fields }: { readonly id: number; readonly fields: Fields }, writer: PbfWriter): void {
  const { data, glyphWidth, glyphHeight, glyphLeft, glyphTop, glyphAdvance } = fields.draw(String.fromCodePoint(id));
  const isBlank = glyphWidth === 0 || glyphHeight === 0;
  writer.writeVarintField(1, id);
  if (!isBlank) writer.writeBytesField(2, new Uint8Array(data.buffer, data.byteOffset, data.length));
  writer.writeVarintField(3, isBlank ? 0 : glyphWidth);
  writer.writeVarintField(4, isBlank ? 0 : glyphHeight);
  writer.writeSVarintField(5, isBlank ? 0 : glyphLeft);
  writer.writeSVarintField(6, isBlank ? 0 : glyphTop - ascenderPx);
  writer.writeVarintField(7, Math.round(glyphAdvance));
}
