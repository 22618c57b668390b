/** The progress of an import on a terminal: one line that is written over. Pure but for the terminal. */
import type { Import } from '../schemas/json/import.js';

const eraseLine = '\r\u001b[K';
const maxBarCharacters = 24;
/** Columns of a terminal that does not report its size. */
const usualColumns = 80;

const grouped = (count: number): string => Math.round(count).toLocaleString('en-US');

/** How much of the whole is done, 0 to 1, and what the line says about it, the most important part first. */
interface Progress {
  readonly share: number;
  readonly parts: readonly string[];
}

/** Describes the progress of the upload that precedes the import. Empty files count as one byte. */
export const sendingProgress = (sentBytes: number, totalBytes: number): Progress => ({
  share: sentBytes / Math.max(1, totalBytes),
  parts: ['sending'],
});

/**
 * Describes the progress of an import.
 * @param elapsedMs since the first row.
 */
export const importProgress = ({ bytesRead, bytesTotal, rows, rejected }: Import, elapsedMs: number): Progress => ({
  share: bytesRead / Math.max(1, bytesTotal ?? 1),
  parts: [
    `${grouped(rows)} rows`,
    ...(rejected > 0 ? [`${grouped(rejected)} rejected`] : []),
    ...(elapsedMs > 0 ? [`${grouped((1_000 * rows) / elapsedMs)}/s`] : []),
  ],
});

/**
 * Returns a line such as `█████░░░░░  50 %  1,000 rows`, which fits: a longer one would wrap, and could not be written
 * over. A narrow terminal gets a shorter bar, then fewer parts.
 */
export function lineOf({ share, parts }: Progress, columns: number): string {
  const percent = `${String(Math.floor(100 * Math.min(1, share))).padStart(3)} %`;
  let text = percent;
  for (const part of parts) if (text.length + 2 + part.length < columns) text += `  ${part}`;
  const characters = Math.min(maxBarCharacters, columns - text.length - 2);
  if (characters < 1) return text;
  const full = Math.round(Math.min(1, share) * characters);
  return `${'█'.repeat(full)}${'░'.repeat(characters - full)} ${text}`;
}

/** The line of a terminal that shows the progress. Without a terminal it shows nothing. */
export interface ProgressLine {
  show(progress: Progress): void;
  /** Clears the line. */
  end(): void;
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & Partial<Pick<NodeJS.WriteStream, 'columns'>>;

/** Prints nothing if `terminal` is not a terminal. */
export const progressLine = (terminal: Terminal): ProgressLine => ({
  // A terminal of unknown size says that it has no columns.
  show: (progress) =>
    void (terminal.isTTY && terminal.write(eraseLine + lineOf(progress, terminal.columns || usualColumns))),
  end: () => void (terminal.isTTY && terminal.write(eraseLine)),
});
