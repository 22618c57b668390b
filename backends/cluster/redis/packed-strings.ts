/** Several texts as one: their lengths, then a line end, then the texts. */

export const packTexts = (texts: readonly string[]): string =>
  `${texts.map(({ length }) => length).join(' ')}\n${texts.join('')}`;

/** What {@link packTexts} was given. Of anything else, some texts. */
export function unpackTexts(parcel: string): string[] {
  const headerEnd = parcel.indexOf('\n');
  let end = headerEnd + 1;
  return parcel
    .slice(0, Math.max(0, headerEnd))
    .split(' ')
    .map((length) => {
      const start = end;
      end += Number(length);
      return parcel.slice(start, end);
    });
}
