/** Reads which characters a font file has: TrueType (OpenType 1.9, `cmap`) or WOFF 2.0. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/**
 * Returns whether a font file has a glyph for a character. Of a TrueType file, only the table of characters is read.
 */
export function charactersOf(path: string): (codePoint: number) => boolean {
  const file = path.endsWith('.woff2') ? compressedTableOf(readFileSync(path)) : tableOf(path, 'cmap');
  const subtables = Array.from({ length: file.getUint16(2) }, (_, i) => file.getUint32(4 + 8 * i + 4));
  const readers = subtables.flatMap((at) => {
    const format = file.getUint16(at);
    return format === 4 ? [segments(file, at)] : format === 12 ? [groups(file, at)] : [];
  });
  return (codePoint) => readers.some((has) => has(codePoint));
}

function tableOf(path: string, name: string): DataView {
  const file = openSync(path, 'r');
  try {
    const read = (at: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      readSync(file, bytes, 0, length, at);
      return bytes;
    };
    const directory = read(12, 16 * read(0, 12).readUInt16BE(4));
    for (let at = 0; at < directory.length; at += 16) {
      if (directory.toString('latin1', at, at + 4) !== name) continue;
      const table = read(directory.readUInt32BE(at + 8), directory.readUInt32BE(at + 12));
      return new DataView(table.buffer, table.byteOffset, table.length);
    }
  } finally {
    closeSync(file);
  }
  throw new TypeError(`the font ${path} has no table ${name}`);
}

/** Numbers of the known tags of WOFF 2.0, section 4.1. */
const [cmapTag, glyfTag, locaTag, ownTag] = [0, 10, 11, 63];

/** Returns the table of characters. Tables follow each other in one stream; only `glyf` and `loca` are transformed. */
function compressedTableOf(bytes: Buffer): DataView {
  let at = 48;
  const number = (): number => {
    for (let value = 0; ; ) {
      const byte = bytes[at++]!;
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  };
  let offset = 0;
  let cmap = { start: 0, length: 0 };
  for (let i = 0; i < bytes.readUInt16BE(12); i++) {
    const flags = bytes[at++]!;
    const tag = flags & 63;
    if (tag === ownTag) at += 4;
    const original = number();
    const isGlyphs = tag === glyfTag || tag === locaTag;
    const isTransformed = isGlyphs ? flags >> 6 !== 3 : flags >> 6 !== 0;
    const length = isTransformed ? number() : original;
    if (tag === cmapTag) cmap = { start: offset, length };
    offset += length;
  }
  const tables = brotliDecompressSync(bytes.subarray(at, at + bytes.readUInt32BE(20)));
  return new DataView(tables.buffer, tables.byteOffset + cmap.start, cmap.length);
}

/** Format 4: segments of the basic plane. */
function segments(file: DataView, at: number): (codePoint: number) => boolean {
  const bytes = file.getUint16(at + 6);
  const [ends, starts, deltas, offsets] = [at + 14, at + 16 + bytes, at + 16 + 2 * bytes, at + 16 + 3 * bytes];
  return (codePoint) => {
    for (let i = 0; i < bytes; i += 2) {
      const start = file.getUint16(starts + i);
      if (codePoint > file.getUint16(ends + i)) continue;
      if (codePoint < start) return false;
      const offset = file.getUint16(offsets + i);
      const delta = file.getUint16(deltas + i);
      const glyph = offset === 0 ? codePoint : file.getUint16(offsets + i + offset + 2 * (codePoint - start));
      return glyph !== 0 && ((glyph + delta) & 0xffff) !== 0;
    }
    return false;
  };
}

/** Format 12: groups of all planes. */
function groups(file: DataView, at: number): (codePoint: number) => boolean {
  const count = file.getUint32(at + 12);
  return (codePoint) => {
    for (let i = 0; i < count; i++) {
      const group = at + 16 + 12 * i;
      if (codePoint >= file.getUint32(group) && codePoint <= file.getUint32(group + 4))
        return file.getUint32(group + 8) > 0;
    }
    return false;
  };
}
