/** Counts in words. Pure. */

export const grouped = (count: number): string => count.toLocaleString('en');

/** Returns for example "1 row" and "2,000 rows". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;
