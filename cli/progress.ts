/** The progress of a command on a terminal: one line that is written over. Pure but for the terminal and its clock. */
import type { Import } from '../schemas/json/import.js';
import { grouped } from '../schemas/wording.js';

const eraseLine = '\r\u001b[K';
const maxBarCharacters = 24;
/** Columns of a terminal that does not report its size. */
const usualColumns = 80;
/** A line that changes more often can't be read. */
const everyMs = 200;

/** How much of the whole is done, and what the line says about it, the most important part first. */
interface Progress {
  /** 0 to 1. Absent: how much is left is not known. */
  readonly share?: number;
  readonly parts: readonly string[];
}

const shareOf = (done: number, total: number): number => done / Math.max(1, total);

/** Returns the rate as a part of the line; none before any time has passed. */
const rateOf = (count: number, elapsedMs: number): string[] =>
  elapsedMs > 0 ? [`${grouped(Math.round((1_000 * count) / elapsedMs))}/s`] : [];

/** Describes the progress of the upload that precedes the import. Empty files count as one byte. */
export const sendingProgress = (sentBytes: number, totalBytes: number): Progress => ({
  share: shareOf(sentBytes, totalBytes),
  parts: ['sending'],
});

/**
 * Describes the progress of an import.
 * @param elapsedMs since the first row.
 */
export const importProgress = ({ bytesRead, bytesTotal, rows, rejected }: Import, elapsedMs: number): Progress => ({
  share: shareOf(bytesRead, bytesTotal ?? 1),
  parts: [
    `${grouped(rows)} rows`,
    ...(rejected > 0 ? [`${grouped(rejected)} rejected`] : []),
    ...rateOf(rows, elapsedMs),
  ],
});

/** Describes the progress of a replay. */
export const replayProgress = (locations: number, total: number, elapsedMs: number): Progress => ({
  share: shareOf(locations, total),
  parts: [`${grouped(locations)} locations`, ...rateOf(locations, elapsedMs)],
});

/**
 * Returns a line such as `█████░░░░░  50 %  1,000 rows`, which fits: a longer one would wrap, and could not be written
 * over. A narrow terminal gets a shorter bar, then fewer parts.
 */
export function lineOf({ share, parts }: Progress, columns: number): string {
  const percent = share === undefined ? [] : [`${String(Math.floor(100 * Math.min(1, share))).padStart(3)} %`];
  let text = '';
  for (const part of [...percent, ...parts]) {
    const longer = text === '' ? part : `${text}  ${part}`;
    if (longer.length < columns) text = longer;
  }
  const characters = Math.min(maxBarCharacters, columns - text.length - 2);
  if (share === undefined || characters < 1) return text;
  const full = Math.round(Math.min(1, share) * characters);
  return `${'█'.repeat(full)}${'░'.repeat(characters - full)} ${text}`;
}

/** The line of a terminal that shows the progress. Without a terminal it shows nothing. */
export interface ProgressLine {
  /** Shows the progress, unless the line has just changed. */
  show(progress: Progress): void;
  /** Clears the line. The next progress is shown at once. */
  end(): void;
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & Partial<Pick<NodeJS.WriteStream, 'columns'>>;

/**
 * Prints nothing if `terminal` is not a terminal.
 * @param clock in ms.
 */
export function progressLine(terminal: Terminal, clock = () => performance.now()): ProgressLine {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  return {
    show(progress) {
      if (!terminal.isTTY || clock() - shownAtMs < everyMs) return;
      shownAtMs = clock();
      // A terminal of unknown size says that it has no columns.
      terminal.write(eraseLine + lineOf(progress, terminal.columns || usualColumns));
    },
    end() {
      if (terminal.isTTY && shownAtMs !== Number.NEGATIVE_INFINITY) terminal.write(eraseLine);
      shownAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}
