/** Counts and texts in words. Pure. */

/** Groups the digits of a number by commas. The browser's own format is slow when it is first used. */
export const grouped = (count: number): string =>
  String(count).replace(/^\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ','));

/** Returns for example "1 row" and "2,000 rows". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Returns the text as the beginning of a sentence or a title. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
