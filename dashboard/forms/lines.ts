/**
 * Lists of texts in a field of several lines, one item per line. Items may have spaces and commas. An item that would
 * not read as itself, because of a line break, an outer space or a leading quote, is written as a JSON string. Pure.
 */

const isPlain = (item: string): boolean => item !== '' && item === item.trim() && !/^"|[\r\n]/.test(item);

/** Returns the text of a field. {@link itemsOf} returns the same items from it. */
export const linesOf = (items: readonly string[]): string =>
  items.map((item) => (isPlain(item) ? item : JSON.stringify(item))).join('\n');

function itemOf(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    const item: unknown = JSON.parse(line);
    return typeof item === 'string' ? item : line;
  } catch {
    return line;
  }
}

/** Returns the items of a field; undefined: there are none. */
export function itemsOf(text: string): string[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length > 0 ? lines.map(itemOf) : undefined;
}
