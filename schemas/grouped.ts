/** Returns a number with its digits grouped by commas, whatever the locale of the process: `12,345.6`. */
export const grouped = (value: number): string => value.toLocaleString('en');
