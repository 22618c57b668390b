/** Text at a point: broken into lines, aligned, and set at its anchor. */

import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type Stand, shareOf, standsOf } from './anchor.js';
import { rowHeightEm, turnedBoxes } from './boxes.js';
import type { Run, Setting } from './label.js';
import { textWidth } from './measure.js';
import type { Look, Type } from './text-style.js';
import { lineStarts, piecesOf } from './wrap.js';

/** How a style wants a feature's text to be set. */
export interface BlockStyle {
  readonly maxWidthEm: number;
  readonly lineHeightEm: number;
  readonly justify: 'auto' | 'left' | 'center' | 'right';
  /** Radians, clockwise about the point. */
  readonly rotation: number;
  readonly stands: readonly Stand[];
}

export function blockStyleOf(layer: StyleLayer, feature: TileFeature, zoom: number): BlockStyle {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  return {
    maxWidthEm: layout('text-max-width'),
    lineHeightEm: layout('text-line-height'),
    justify: layout('text-justify'),
    rotation: (layout<number>('text-rotate') * Math.PI) / 180,
    stands: standsOf(layer, feature, zoom),
  };
}

/** Lines of text, with the widths of each. */
interface Block {
  readonly lines: readonly { readonly text: string; readonly width: number }[];
  readonly width: number;
}

/** All ways to set a text at a point of the image. */
export function* blockSettings(text: string, look: Look, style: BlockStyle, x: number, y: number): Generator<Setting> {
  const block = breakLines(text, look, style.maxWidthEm * look.sizePx);
  for (const stand of style.stands) yield settingAt(block, look, style, stand, x, y);
}

function breakLines(text: string, type: Type, maxWidthPx: number): Block {
  const lines = text
    .split('\n')
    .flatMap((paragraph) => wrap(paragraph, type, maxWidthPx))
    .map((line) => ({ text: line, width: textWidth(line, type) }));
  return { lines, width: Math.max(...lines.map(({ width }) => width)) };
}

/** Widths are compared in hundredths of a pixel. */
const precision = 100;

function wrap(paragraph: string, type: Type, maxWidthPx: number): string[] {
  if (textWidth(paragraph, type) <= maxWidthPx) return [paragraph];
  const pieces = piecesOf(paragraph);
  const measured = (text: string) => Math.round(textWidth(text, type) * precision);
  const [space, nothing] = [measured(' ') + 2 * type.letterSpacingPx * precision, type.letterSpacingPx * precision];
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

function settingAt(
  block: Block,
  look: Look,
  style: BlockStyle,
  { anchor, offset }: Stand,
  x: number,
  y: number,
): Setting {
  const rowPx = style.lineHeightEm * look.sizePx;
  const heightPx = rowPx * block.lines.length;
  const { across, down } = shareOf(anchor);
  const left = offset[0] * look.sizePx - across * block.width;
  const top = offset[1] * look.sizePx - down * heightPx;
  const cos = Math.cos(style.rotation);
  const sin = Math.sin(style.rotation);
  const turned = (dx: number, dy: number) => ({ x: x + dx * cos - dy * sin, y: y + dx * sin + dy * cos });

  const share = style.justify === 'auto' ? across : shareOf(style.justify).across;
  const runs = block.lines.map(({ text, width }, i): Run => {
    const middle = left + share * (block.width - width) + width / 2;
    return { text, ...turned(middle, top + (i + 0.5) * rowPx), angle: style.rotation };
  });
  const middle = turned(left + block.width / 2, top + heightPx / 2);
  // A single row is never less tall than its letters.
  const boxHeightPx = Math.max(heightPx, rowHeightEm * look.sizePx);
  const frame = { ...middle, width: block.width, height: heightPx, angle: style.rotation };
  return { runs, boxes: turnedBoxes(middle.x, middle.y, block.width, boxHeightPx, style.rotation), frame };
}
