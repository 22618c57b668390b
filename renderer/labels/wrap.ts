/**
 * Where a text's lines end.
 *
 * No line is wider than it may be, as far as breaks allow; then there are as few lines as can be; then they are as even
 * as can be. Pure.
 */

import { isUnspaced } from './script.js';

/** A part of a text that stays on one line. */
export interface Piece {
  readonly text: string;
  /** What separates it from the piece before it on the same line. */
  readonly gap: '' | ' ';
}

const words = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * The pieces of one paragraph: what spaces separate, what hyphens and slashes end, and words of scripts that write none
 * of these. No line begins with a dash.
 */
export function piecesOf(paragraph: string): Piece[] {
  return paragraph.split(/ (?![-–—/&] )/).flatMap((word) =>
    word
      .split(/(?<=[^\s\d][-–—/&+)\u200B])(?=.)/u)
      .flatMap((part) => (isUnspaced(part) ? unspacedPieces(part) : [part]))
      .map((text, i): Piece => ({ text, gap: i === 0 ? ' ' : '' })),
  );
}

/** Words, with signs that may not begin or end a line kept where they belong. */
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

/** Compared from the left. */
type Cost = readonly [overflow: number, lines: number, unevenness: number];

interface Break {
  readonly cost: Cost;
  /** Index of the first piece of the line that ends here. */
  readonly from: number;
}

/**
 * Where each line begins, as indexes of pieces. `widths` are those of the pieces, `gaps` those of what separates each
 * from the one before it; whole numbers, so that sums of them compare exactly.
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
    // A longer line only overflows more.
    if (width > maxWidth) break;
  }
  return found!;
}

function isLess(a: Cost, b: Cost): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}
