/**
 * Breaks text into lines.
 *
 * Breaks minimise, in this order: the width beyond the maximum, the number of lines, and the unevenness of the lines.
 * Pure.
 */
import { isUnspaced } from './script.js';

/** A part of a text that is never broken. */
interface Piece {
  readonly text: string;
  /** Separator from the previous piece on the same line. */
  readonly gap: '' | ' ';
}

const words = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Splits a paragraph into pieces: at spaces, after hyphens and slashes, and between words of scripts without spaces. No
 * piece begins with a dash.
 */
export function piecesOf(paragraph: string): Piece[] {
  return paragraph.split(/ (?![-–—/] )/).flatMap((word) =>
    word
      .split(/(?<=[^\s\d][-–—/&+)\u200B])(?=.)/u)
      .flatMap((part) => (isUnspaced(part) ? unspacedPieces(part) : [part]))
      .map((text, i): Piece => ({ text, gap: i === 0 ? ' ' : '' })),
  );
}

/** Splits into words. Punctuation stays with the word that it must not be separated from. */
function unspacedPieces(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment, isWordLike } of words.segment(text)) {
    const last = pieces.at(-1);
    const staysWithLast = last !== undefined && ((!isWordLike && !opens(segment)) || opens(last));
    if (staysWithLast) pieces[pieces.length - 1] = last + segment;
    else pieces.push(segment);
  }
  return pieces;
}

function opens(text: string): boolean {
  return /[\p{Ps}\p{Pi}]$/u.test(text);
}

/** Compared from left to right. */
type Cost = readonly [overflow: number, lines: number, unevenness: number];

interface Break {
  readonly cost: Cost;
  /** Index of the line's first piece. */
  readonly from: number;
}

/**
 * Returns the index of each line's first piece. `widths` are the widths of pieces, `gaps` those of the separators
 * before them. All are integers, so that sums compare exactly.
 */
export function lineStarts(widths: readonly number[], gaps: readonly number[], maxWidth: number): number[] {
  const best: Break[] = [{ cost: [0, 0, 0], from: 0 }];
  for (let end = 1; end <= widths.length; end++) best.push(bestLineTo(end, best, widths, gaps, maxWidth));
  const starts: number[] = [];
  for (let end = widths.length; end > 0; end = best[end]!.from) starts.unshift(best[end]!.from);
  return starts;
}

function bestLineTo(
  end: number,
  best: readonly Break[],
  widths: readonly number[],
  gaps: readonly number[],
  maxWidth: number,
): Break {
  let found: Break | undefined;
  let width = 0;
  for (let from = end - 1; from >= 0; from--) {
    width += widths[from]! + (from + 1 < end ? gaps[from + 1]! : 0);
    const [overflow, lines, unevenness] = best[from]!.cost;
    const cost: Cost = [overflow + Math.max(0, width - maxWidth), lines + 1, unevenness + width * width];
    if (!found || isLess(cost, found.cost)) found = { cost, from };
    // A longer line would only overflow more.
    if (width > maxWidth) break;
  }
  return found!;
}

function isLess(a: Cost, b: Cost): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}
