/** Returns the first `maxCharacters` UTF-16 units of a text, or one less where the cut would split a surrogate pair. */
export function cutText(text: string, maxCharacters: number): string {
  const isPairSplit = (text.codePointAt(maxCharacters - 1) ?? 0) > 0xffff;
  return text.slice(0, isPairSplit ? maxCharacters - 1 : maxCharacters);
}

/** Returns a text shortened for a message. The sender chooses its length. */
export const shownText = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${cutText(text, maxCharacters)}…` : text;
