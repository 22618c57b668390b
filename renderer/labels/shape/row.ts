/** Shapes one row of text: a single run, or one for each section of its own style. Pure, except that it measures. */
import type { Run } from '../label.js';
import { baselineEm, letterWidths, textWidth } from '../text/measure.js';
import { isRightToLeft } from '../text/script.js';
import type { FontStyle, TextStyle } from '../text/text-style.js';

/** A part of a row in one style. */
interface Segment {
  readonly text: string;
  readonly section: NonNullable<Run['section']>;
}

/** Returns the parts of a row, of which `start` is the position in the text that the style's sections count from. */
function segmentsOf(row: string, start: number, { sections, ...style }: TextStyle): Segment[] {
  let from = start;
  return (sections ?? []).flatMap(({ end, scale, color, face, han, families }): Segment[] => {
    const text = row.slice(from - start, Math.max(from, end) - start);
    from = Math.max(from, end);
    if (text === '') return [];
    const { sizePx, letterSpacingPx } = style;
    const font: FontStyle = {
      face,
      han,
      families,
      sizePx: sizePx * scale,
      letterSpacingPx: letterSpacingPx * scale,
    };
    return [{ text, section: { font, color: color ?? style.color } }];
  });
}

/** Returns the width in CSS pixels. */
export function rowWidth(row: string, start: number, textStyle: TextStyle): number {
  if (!textStyle.sections) return textWidth(row, textStyle);
  const segments = segmentsOf(row, start, textStyle);
  const widths = segments.map(({ text, section }) => segmentWidth(text, section.font));
  return sum(widths) - (segments.at(-1)?.section.font.letterSpacingPx ?? 0);
}

/** Returns the largest factor to the size of the text in a row. */
export function rowScale(row: string, start: number, textStyle: TextStyle): number {
  if (!textStyle.sections) return 1;
  const sizes = segmentsOf(row, start, textStyle).map(({ section }) => section.font.sizePx);
  return sizes.length === 0 ? 1 : Math.max(...sizes) / textStyle.sizePx;
}

/** Returns the runs of a row whose centre is at a point. Sections stand on one baseline. */
export function rowRuns(row: string, start: number, textStyle: TextStyle, x: number, y: number, angle: number): Run[] {
  if (!textStyle.sections) return [{ text: row, x, y, angle }];
  const baseline = baselineEm(row);
  const largestPx = rowScale(row, start, textStyle) * textStyle.sizePx;
  const segments = segmentsOf(row, start, textStyle);
  if (isRightToLeft(row)) segments.reverse();
  let at = -rowWidth(row, start, textStyle) / 2;
  return segments.flatMap(({ text, section }): Run[] => {
    const before = spaceWidth(/^ */.exec(text)![0], section.font);
    const letters = text.trim();
    const width = textWidth(letters, section.font);
    const along = at + before + width / 2;
    const down = baseline * largestPx - baselineEm(letters) * section.font.sizePx;
    at += segmentWidth(text, section.font);
    if (letters === '') return [];
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return [{ text: letters, x: x + along * cos - down * sin, y: y + along * sin + down * cos, angle, section }];
  });
}

/** A letter of a row that has sections of different style. */
export interface StyledLetter {
  readonly letter: string;
  /** With letter spacing, in CSS pixels. */
  readonly width: number;
  readonly section?: Run['section'];
}

/** Returns the letters of a row in order, each with the style of its section. */
export function styledLetters(row: string, textStyle: TextStyle): StyledLetter[] {
  if (!textStyle.sections) return letterWidths(row, textStyle);
  return segmentsOf(row, 0, textStyle).flatMap(({ text, section }) =>
    letterWidths(text, section.font).map((letter) => ({ ...letter, section })),
  );
}

/** Returns a segment's width with letter spacing after its last letter. Spaces at its ends are measured apart. */
function segmentWidth(text: string, font: FontStyle): number {
  const letters = text.trim();
  const spaces = spaceWidth(' '.repeat(text.length - letters.length), font);
  return letters === '' ? spaces : spaces + textWidth(letters, font) + font.letterSpacingPx;
}

const spaceWidth = (spaces: string, font: FontStyle): number =>
  spaces.length === 0 ? 0 : spaces.length * (textWidth(' ', font) + font.letterSpacingPx);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
