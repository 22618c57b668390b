/** How messages write numbers, sizes and texts, whatever the locale of the process. */

/** Returns a number with its digits grouped by commas: `12,345.6`. */
export const grouped = (value: number): string => value.toLocaleString('en');

const units = ['GiB', 'MiB', 'KiB'] as const;

/** Returns a limit exactly, in the largest binary unit that needs no fraction: `2 GiB`, `256 KiB`, `900000 bytes`. */
export function limitText(bytes: number): string {
  for (const [index, unit] of units.entries()) {
    const size = bytes / 1_024 ** (units.length - index);
    if (size >= 1 && Number.isInteger(size)) return `${size} ${unit}`;
  }
  return `${bytes} bytes`;
}

/** Returns the first `maxCharacters` UTF-16 units of a text, or one less where the cut would split a surrogate pair. */
export function cutText(text: string, maxCharacters: number): string {
  const isPairSplit = (text.codePointAt(maxCharacters - 1) ?? 0) > 0xffff;
  return text.slice(0, isPairSplit ? maxCharacters - 1 : maxCharacters);
}

/** Returns a text shortened for a message. The sender chooses its length. */
export const shownText = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${cutText(text, maxCharacters)}…` : text;
