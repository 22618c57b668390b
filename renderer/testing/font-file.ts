/** Reads the characters of a font file (OpenType 1.9, `cmap`). For tests. */

import { readFileSync } from 'node:fs';

/** Returns whether a TrueType file has a glyph for a character. */
export function charactersOf(path: string): (codePoint: number) => boolean {
  const bytes = readFileSync(path);
  const file = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = Array.from({ length: file.getUint16(4) }, (_, i) => 12 + 16 * i);
  const cmap = file.getUint32(tables.find((at) => bytes.toString('latin1', at, at + 4) === 'cmap')! + 8);
  const subtables = Array.from(
    { length: file.getUint16(cmap + 2) },
    (_, i) => cmap + file.getUint32(cmap + 4 + 8 * i + 4),
  );
  const readers = subtables.flatMap((at) => {
    const format = file.getUint16(at);
    return format === 4 ? [segments(file, at)] : format === 12 ? [groups(file, at)] : [];
  });
  return (codePoint) => readers.some((has) => has(codePoint));
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
