/**
 * Writes cells of CSV files, and keeps spreadsheets from running them as formulas ({@link formulaPattern}). Pure.
 *
 * The export puts an apostrophe before such cells, and the import removes it. The two are inverse: an apostrophe before
 * a formula that was there already gets one more.
 */
import { formulaPattern } from '../http/fields/formulas.js';

const toGuard = new RegExp(formulaPattern);
const guarded = new RegExp(formulaPattern.replace('^', "^'"));

/** Returns the text as a cell that no spreadsheet calculates. */
export const guardCell = (text: string): string => (toGuard.test(text) ? `'${text}` : text);

/** Returns the text of a cell, without the apostrophe of {@link guardCell}. */
export const unguardCell = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell);

/** Quotes a cell where RFC 4180 requires it, and where leading or trailing spaces would be lost. */
export function csvCell(text: string): string {
  const cell = guardCell(text);
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Returns a line of CSV with its line break. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;
