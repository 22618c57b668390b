/** Shapes text at a point: breaks it into lines, aligns them and positions the block at its anchor. */

import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import { rowHeightEm, turnedBoxes } from '../collision/boxes.js';
import type { Placement, Run } from '../label.js';
import { textWidth } from '../text/measure.js';
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
}

/** Yields all ways to place a text at a point of the image, the preferred one first. */
export function* blockPlacements(
  text: string,
  textStyle: TextStyle,
  style: BlockStyle,
  x: number,
  y: number,
): Generator<Placement> {
  const block = breakLines(text, textStyle, style.maxWidthEm * textStyle.sizePx);
  for (const anchorOffset of style.anchorOffsets) yield placementAt(block, textStyle, style, anchorOffset, x, y);
}

function breakLines(text: string, textStyle: TextStyle, maxWidthPx: number): ShapedText {
  let start = 0;
  const lines = text
    .split('\n')
    .flatMap((paragraph) => {
      const wrapped = wrap(paragraph, start, textStyle, maxWidthPx);
      start += paragraph.length + 1;
      return wrapped;
    })
    .map((line) => ({
      ...line,
      width: rowWidth(line.text, line.start, textStyle),
      scale: rowScale(line.text, line.start, textStyle),
    }));
  return { lines, width: Math.max(...lines.map(({ width }) => width)) };
}

/** Line breaking compares widths in units of 1/100 pixel. */
const precision = 100;

function wrap(paragraph: string, start: number, textStyle: TextStyle, maxWidthPx: number): TextLine[] {
  if (rowWidth(paragraph, start, textStyle) <= maxWidthPx) return [{ text: paragraph, start }];
  const { letterSpacingPx } = textStyle;
  let at = start;
  const pieces = piecesOf(paragraph).map((piece, i) => {
    if (i > 0) at += piece.gap.length;
    const placed = { ...piece, start: at };
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
  block: ShapedText,
  textStyle: TextStyle,
  style: BlockStyle,
  { anchor, offset }: AnchorOffset,
  x: number,
  y: number,
): Placement {
  const rowPx = style.lineHeightEm * textStyle.sizePx;
  const heightPx = rowPx * block.lines.reduce((sum, { scale }) => sum + scale, 0);
  const { across, down } = alignmentOf(anchor);
  const left = offset[0] * textStyle.sizePx - across * block.width;
  const top = offset[1] * textStyle.sizePx - down * heightPx;
  const cos = Math.cos(style.rotation);
  const sin = Math.sin(style.rotation);
  const rotated = (dx: number, dy: number) => ({ x: x + dx * cos - dy * sin, y: y + dx * sin + dy * cos });

  const share = style.justify === 'auto' ? across : alignmentOf(style.justify).across;
  let rowTop = top;
  const runs = block.lines.flatMap(({ text, start, width, scale }): Run[] => {
    const at = rotated(left + share * (block.width - width) + width / 2, rowTop + (scale * rowPx) / 2);
    rowTop += scale * rowPx;
    return rowRuns(text, start, textStyle, at.x, at.y, style.rotation);
  });
  const middle = rotated(left + block.width / 2, top + heightPx / 2);
  // The collision box is at least as tall as the glyphs.
  const boxHeightPx = Math.max(heightPx, rowHeightEm * textStyle.sizePx);
  const rectangle = { ...middle, width: block.width, height: heightPx, angle: style.rotation };
  return { runs, boxes: turnedBoxes(middle.x, middle.y, block.width, boxHeightPx, style.rotation), rectangle };
}
