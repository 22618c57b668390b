/** Packed strings: several texts in one. Their lengths, a line end, then the texts. */

/** Packs texts into one. Lengths count UTF-16 units. */
export const packStrings = (texts: readonly string[]): string =>
  `${texts.map(({ length }) => length).join(' ')}\n${texts.join('')}`;

/** Returns the texts given to {@link packStrings}. For any other input it returns arbitrary texts. */
export function unpackStrings(packed: string): string[] {
  const headerEnd = packed.indexOf('\n');
  let end = headerEnd + 1;
  return packed
    .slice(0, Math.max(0, headerEnd))
    .split(' ')
    .map((length) => {
      const start = end;
      end += Number(length);
      return packed.slice(start, end);
    });
}
