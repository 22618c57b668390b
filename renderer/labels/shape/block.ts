/** Shapes text at a point: breaks it into lines, aligns them and positions the block at its anchor. */
import { LRUCache } from 'lru-cache';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import { rowHeightEm, turnedBoxes } from '../collision/boxes.js';
import type { Placement, Run } from '../label.js';
import { fontKeyOf, measuredSizePx, textWidth } from '../text/measure.js';
import type { TextStyle } from '../text/text-style.js';
import { lineStarts, piecesOf } from '../text/wrap.js';
import { type AnchorOffset, alignmentOf, anchorOffsetsOf } from './anchor-offset.js';
import { rowRuns, rowScale, rowWidth } from './row.js';

/** A feature's text layout properties, from the style. */
export interface BlockStyle {
  readonly maxWidthEm: number;
  readonly lineHeightEm: number;
  readonly justify: 'auto' | 'left' | 'center' | 'right';
  /** Radians, clockwise about the point. */
  readonly rotation: number;
  readonly anchorOffsets: readonly AnchorOffset[];
}

/** Returns the layout properties of a feature's text. Lengths are in ems, the rotation in radians. */
export function blockStyleOf(layer: StyleLayer, feature: TileFeature, zoom: number): BlockStyle {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  return {
    maxWidthEm: layout('text-max-width'),
    lineHeightEm: layout('text-line-height'),
    justify: layout('text-justify'),
    rotation: (layout<number>('text-rotate') * Math.PI) / 180,
    anchorOffsets: anchorOffsetsOf(layer, feature, zoom),
  };
}

/** A line, and its position in the text. */
interface TextLine {
  readonly text: string;
  readonly start: number;
}

interface ShapedLine extends TextLine {
  readonly width: number;
  /** Factor of its largest section to the size of the text. */
  readonly scale: number;
}

/** Shaped text: its lines and their widths. */
interface ShapedText {
  readonly lines: readonly ShapedLine[];
  readonly width: number;
  /** Sum of the factors of all lines. */
  readonly scale: number;
}

/** Yields all ways to place a text at a point of the image, the preferred one first. */
export function* blockPlacements(
  text: string,
  textStyle: TextStyle,
  style: BlockStyle,
  x: number,
  y: number,
): Generator<Placement> {
  const block = shaped(text, textStyle, style.maxWidthEm);
  for (const anchorOffset of style.anchorOffsets) yield placementAt(block, textStyle, style, anchorOffset, x, y);
}

function shaped(text: string, textStyle: TextStyle, maxWidthEm: number): ShapedText {
  const lines: ShapedLine[] = [];
  let width = 0;
  let scale = 0;
  for (const { text: line, start } of brokenLines(text, textStyle, maxWidthEm)) {
    const own = { text: line, start, width: rowWidth(line, start, textStyle), scale: rowScale(line, start, textStyle) };
    width = Math.max(width, own.width);
    scale += own.scale;
    lines.push(own);
  }
  return { lines, width, scale };
}

const maxTexts = 2_000;
/** Lines of texts of one style, because breaking a text takes longer than all else of a label. */
const broken = new LRUCache<string, readonly TextLine[]>({ max: maxTexts });
/** Letter spacings are compared in parts of an em. */
const spacingPrecision = 1_000;

/** Breaks a text as if it were drawn at the size that texts are measured at, so that lines are the same at any size. */
function brokenLines(text: string, textStyle: TextStyle, maxWidthEm: number): readonly TextLine[] {
  const spacing = Math.round((textStyle.letterSpacingPx / textStyle.sizePx) * spacingPrecision);
  const letterSpacingPx = (spacing / spacingPrecision) * measuredSizePx;
  const measured = { ...textStyle, sizePx: measuredSizePx, letterSpacingPx };
  if (textStyle.sections) return breakLines(text, measured, maxWidthEm);
  const key = `${fontKeyOf(textStyle)} ${spacing} ${maxWidthEm} ${text}`;
  let lines = broken.get(key);
  if (!lines) {
    lines = breakLines(text, measured, maxWidthEm);
    broken.set(key, lines);
  }
  return lines;
}

function breakLines(text: string, textStyle: TextStyle, maxWidthEm: number): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  for (const paragraph of text.split('\n')) {
    lines.push(...wrap(paragraph, start, textStyle, maxWidthEm * textStyle.sizePx));
    start += paragraph.length + 1;
  }
  return lines;
}

/** Line breaking compares widths in units of 1/100 pixel. */
const precision = 100;

function wrap(paragraph: string, start: number, textStyle: TextStyle, maxWidthPx: number): TextLine[] {
  if (rowWidth(paragraph, start, textStyle) <= maxWidthPx) return [{ text: paragraph, start }];
  const { letterSpacingPx } = textStyle;
  let at = start;
  const pieces = piecesOf(paragraph).map((piece, i) => {
    if (i > 0) at += piece.gap.length;
    const placed = { start: at, ...piece };
    at += piece.text.length;
    return placed;
  });
  const space = textWidth(' ', textStyle) + 2 * letterSpacingPx;
  const starts = lineStarts(
    pieces.map((piece) => Math.round(rowWidth(piece.text, piece.start, textStyle) * precision)),
    pieces.map(({ gap }) => Math.round((gap === ' ' ? space : letterSpacingPx) * precision)),
    Math.round(maxWidthPx * precision),
  );
  return starts.map((first, i) => {
    const last = pieces[(starts[i + 1] ?? pieces.length) - 1]!;
    const from = pieces[first]!.start;
    return { text: paragraph.slice(from - start, last.start + last.text.length - start), start: from };
  });
}

function placementAt(
  { lines, width, scale }: ShapedText,
  textStyle: TextStyle,
  { lineHeightEm, justify, rotation: angle }: BlockStyle,
  { anchor, offset }: AnchorOffset,
  x: number,
  y: number,
): Placement {
  const { sizePx } = textStyle;
  const rowPx = lineHeightEm * sizePx;
  const height = rowPx * scale;
  const { across, down } = alignmentOf(anchor);
  const share = justify === 'auto' ? across : alignmentOf(justify).across;
  const left = offset[0] * sizePx - across * width;
  const top = offset[1] * sizePx - down * height;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const runs: Run[] = [];
  let rowTop = top;
  for (const line of lines) {
    const right = left + share * (width - line.width) + line.width / 2;
    const below = rowTop + (line.scale * rowPx) / 2;
    rowTop += line.scale * rowPx;
    const [runX, runY] = [x + right * cos - below * sin, y + right * sin + below * cos];
    runs.push(...rowRuns(line.text, line.start, textStyle, runX, runY, angle));
  }
  const [toMiddleX, toMiddleY] = [left + width / 2, top + height / 2];
  const middleX = x + toMiddleX * cos - toMiddleY * sin;
  const middleY = y + toMiddleX * sin + toMiddleY * cos;
  // The collision box is at least as tall as the glyphs.
  const boxes = turnedBoxes(middleX, middleY, width, Math.max(height, rowHeightEm * sizePx), angle);
  return { runs, boxes, rectangle: { x: middleX, y: middleY, width, height, angle } };
}
