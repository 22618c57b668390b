/** Reads which characters a font file has (OpenType 1.9, `cmap`). */

import { closeSync, openSync, readSync } from 'node:fs';

/** Returns whether a TrueType file has a glyph for a character. Reads only the table of characters. */
export function charactersOf(path: string): (codePoint: number) => boolean {
  const file = tableOf(path, 'cmap');
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
