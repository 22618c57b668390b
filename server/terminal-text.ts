/** Formats text for terminals: colours, columns, durations, and text of others. */

/** Adds a style to a text, or returns the text as it is. */
export type Paint = (style: Style, text: string) => string;
/** A style of text in a terminal. */
export type Style = 'dim' | 'bold' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'red';

const codes: Record<Style, number> = { dim: 2, bold: 1, green: 32, yellow: 33, cyan: 36, magenta: 35, red: 31 };

/** Returns a function that colours text for a terminal, or leaves it plain for pipes and files. */
export const painter = (coloured: boolean): Paint =>
  coloured ? (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m` : (_style, text) => text;

/**
 * Replaces control characters, and those that turn the direction of the text after them: text of clients and files may
 * have some that a terminal would obey.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');

/** Truncates or pads a text to a width. */
export const column = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);

/** Returns minutes as text, for example `40 s` or `3.2 min`. */
export const duration = (minutes: number): string =>
  minutes < 1 ? `${(minutes * 60).toFixed(0)} s` : `${minutes.toFixed(1)} min`;
