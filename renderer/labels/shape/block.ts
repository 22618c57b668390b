/** Shapes text at a point: breaks it into lines, aligns them and positions the block at its anchor. */

import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import { rowHeightEm, turnedBoxes } from '../collision/boxes.js';
import type { Placement, Run } from '../label.js';
import { textWidth } from '../text/measure.js';
import type { FontStyle, TextStyle } from '../text/text-style.js';
import { lineStarts, piecesOf } from '../text/wrap.js';
import { type AnchorOffset, alignmentOf, anchorOffsetsOf } from './anchor-offset.js';

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

/** Shaped text: its lines and their widths. */
interface ShapedText {
  readonly lines: readonly { readonly text: string; readonly width: number }[];
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

function breakLines(text: string, font: FontStyle, maxWidthPx: number): ShapedText {
  const lines = text
    .split('\n')
    .flatMap((paragraph) => wrap(paragraph, font, maxWidthPx))
    .map((line) => ({ text: line, width: textWidth(line, font) }));
  return { lines, width: Math.max(...lines.map(({ width }) => width)) };
}

/** Line breaking compares widths in units of 1/100 pixel. */
const precision = 100;

function wrap(paragraph: string, font: FontStyle, maxWidthPx: number): string[] {
  if (textWidth(paragraph, font) <= maxWidthPx) return [paragraph];
  const pieces = piecesOf(paragraph);
  const measured = (text: string) => Math.round(textWidth(text, font) * precision);
  const [space, nothing] = [measured(' ') + 2 * font.letterSpacingPx * precision, font.letterSpacingPx * precision];
  const starts = lineStarts(
    pieces.map((piece) => measured(piece.text)),
    pieces.map(({ gap }) => Math.round(gap === ' ' ? space : nothing)),
    Math.round(maxWidthPx * precision),
  );
  return starts.map((start, i) => {
    const [first, ...rest] = pieces.slice(start, starts[i + 1]);
    return rest.reduce((line, piece) => line + piece.gap + piece.text, first!.text);
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
  const heightPx = rowPx * block.lines.length;
  const { across, down } = alignmentOf(anchor);
  const left = offset[0] * textStyle.sizePx - across * block.width;
  const top = offset[1] * textStyle.sizePx - down * heightPx;
  const cos = Math.cos(style.rotation);
  const sin = Math.sin(style.rotation);
  const rotated = (dx: number, dy: number) => ({ x: x + dx * cos - dy * sin, y: y + dx * sin + dy * cos });

  const share = style.justify === 'auto' ? across : alignmentOf(style.justify).across;
  const runs = block.lines.map(({ text, width }, i): Run => {
    const middle = left + share * (block.width - width) + width / 2;
    return { text, ...rotated(middle, top + (i + 0.5) * rowPx), angle: style.rotation };
  });
  const middle = rotated(left + block.width / 2, top + heightPx / 2);
  // The collision box is at least as tall as the glyphs.
  const boxHeightPx = Math.max(heightPx, rowHeightEm * textStyle.sizePx);
  const rectangle = { ...middle, width: block.width, height: heightPx, angle: style.rotation };
  return { runs, boxes: turnedBoxes(middle.x, middle.y, block.width, boxHeightPx, style.rotation), rectangle };
}
