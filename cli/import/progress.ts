/** The progress of an import on a terminal: one line that is written over. Pure but for the terminal. */
import type { Import } from '../../schemas/json/import.js';

const eraseLine = '\r\u001b[K';
const barCharacters = 24;

const grouped = (count: number): string => Math.round(count).toLocaleString('en-US');

/** Returns a bar such as `█████░░░░░ 50 %`. */
function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * barCharacters);
  const percent = String(Math.floor(100 * Math.min(1, share))).padStart(3);
  return `${'█'.repeat(full)}${'░'.repeat(barCharacters - full)} ${percent} %`;
}

export const sendingLine = (sentBytes: number, totalBytes: number): string =>
  `${bar(sentBytes / Math.max(1, totalBytes))}  sending`;

/** @param elapsedMs since the first row. */
export function importLine({ bytesRead, bytesTotal, rows, rejected }: Import, elapsedMs: number): string {
  const perSecond = elapsedMs > 0 ? `  ${grouped((1_000 * rows) / elapsedMs)}/s` : '';
  const bad = rejected > 0 ? `  ${grouped(rejected)} rejected` : '';
  return `${bar(bytesRead / Math.max(1, bytesTotal ?? 1))}  ${grouped(rows)} rows${perSecond}${bad}`;
}

export interface ProgressLine {
  show(line: string): void;
  /** Takes the line away. */
  end(): void;
}

/** Says nothing where `terminal` is none. */
export const progressLine = (terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): ProgressLine => ({
  show: (line) => void (terminal.isTTY && terminal.write(eraseLine + line)),
  end: () => void (terminal.isTTY && terminal.write(eraseLine)),
});
