/**
 * Writes cells of CSV files, and keeps spreadsheets from running them as formulas. Pure.
 *
 * Spreadsheets calculate cells that begin with =, +, - or @, also after a tab or a line break. Anyone who may name a
 * geofence could thus run a formula on the machine that opens the export. The export puts an apostrophe before such
 * cells, which spreadsheets show as text, and the import removes it. The two are inverse: an apostrophe before a
 * formula that was there already gets one more.
 */

/** With the full-width forms, which some spreadsheets read alike. */
const formula = "'*[=+\\-@\\t\\r\\n＝＋－＠]";
const toGuard = new RegExp(`^${formula}`);
const guarded = new RegExp(`^'${formula}`);

/** Returns the text as a cell that no spreadsheet calculates. */
export const guardCell = (text: string): string => (toGuard.test(text) ? `'${text}` : text);

/** Returns the text of a cell, without the apostrophe of {@link guardCell}. */
export const unguardCell = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell);

/** Quotes a cell where RFC 4180 requires it, and where leading or trailing spaces would be lost. */
export function csvCell(text: string): string {
  const cell = guardCell(text);
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;
