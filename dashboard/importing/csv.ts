/**
 * Reads CSV texts by RFC 4180, as the server's import does. Pure.
 *
 * The server decides what a file means. This reader shows the beginning of a file before it is sent, and the files of
 * rows that the server writes.
 */

interface CsvRow {
  /** Where the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface CsvText {
  readonly rows: readonly CsvRow[];
  /** The line of a row with a broken quote. Nothing after it is read. */
  readonly brokenLine?: number;
}

const lineBreak = /\r\n|\n|\r/g;
const plainCell = /[^,\r\n"]*/y;
/** A cell that spreadsheets would calculate has an apostrophe before it. */
const guarded = /^''*[=+\-@\t\r\n＝＋－＠]/;
const unguarded = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell);

/**
 * Returns the rows of the text, without blank ones.
 *
 * @param isWhole false: the text is the beginning of a file, so its last row is left out unless a line break ends it.
 */
export function readCsv(given: string, isWhole = true): CsvText {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given;
  const rows: CsvRow[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const begin = line;
    const cells: string[] = [];
    for (;;) {
      let cell: string;
      if (text[at] === '"') {
        let end = text.indexOf('"', at + 1);
        while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
        if (end < 0) return isWhole ? { rows, brokenLine: begin } : { rows };
        cell = text.slice(at + 1, end).replaceAll('""', '"');
        line += text.slice(at, end).match(lineBreak)?.length ?? 0;
        at = end + 1;
      } else {
        plainCell.lastIndex = at;
        cell = plainCell.exec(text)![0];
        at = plainCell.lastIndex;
      }
      cells.push(unguarded(cell));
      if (text[at] !== ',') break;
      at += 1;
    }
    const isEnded = at < text.length;
    if (isEnded && text[at] !== '\n' && text[at] !== '\r') return { rows, brokenLine: begin };
    if (isEnded || isWhole) {
      if (cells.some((cell) => cell !== '')) rows.push({ line: begin, cells });
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
  }
  return { rows };
}
