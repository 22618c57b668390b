/** How the lines of one batch are drawn. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type DashPattern, dashPattern, unbroken } from './dash.js';
import type { LineJoin } from './offset.js';
import type { TileCanvas, Translate } from './tile-canvas.js';

/** Lengths in tile units. */
export interface Pen {
  readonly color: Color;
  readonly opacity: number;
  readonly width: number;
  /** What it is at the whole zoom, grown with the tile. */
  readonly wholeWidth: number;
  readonly cap: 'butt' | 'round' | 'square';
  readonly join: LineJoin;
  readonly miterLimit: number;
  /** Where strokes run beside the line: [0] on it. */
  readonly sides: readonly number[];
  /** What is drawn of lines that are cut to the view; null where they are drawn whole. */
  readonly dashes: DashPattern | null;
  readonly translate: Translate;
  /** How far from the line something may be drawn. */
  readonly reach: number;
  /** Parts of a tile unit that coordinates are rounded to. */
  readonly precision: number;
}

/**
 * The drawing engine's numbers have 24 bits: from this many device pixels a tile unit on, lines across a tile would be
 * off by visible parts of their width.
 */
const maxWholeUnitPx = 32;

/** Null when nothing would be seen. */
export function penOf(canvas: TileCanvas, layer: StyleLayer, feature: TileFeature): Pen | null {
  const { zoom, wholeZoom, unitPx, unitsPerPx } = canvas;
  const paint = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const layout = <T>(name: string): T => layer.property<T>(name).at(wholeZoom, feature);

  const width = paint<number>('line-width') * unitsPerPx;
  const color = paint<Color>('line-color');
  const opacity = paint<number>('line-opacity');
  if (width <= 0 || opacity === 0) return null;

  const gapWidth = paint<number>('line-gap-width') * unitsPerPx;
  const offset = paint<number>('line-offset') * unitsPerPx;
  const aside = (gapWidth + width) / 2;
  const sides = gapWidth > 0 ? [offset - aside, offset + aside] : [offset];
  const miterLimit = layout<number>('line-miter-limit');
  const grownWidth = layer.property<number>('line-width').at(wholeZoom, feature) * canvas.enlargement * unitsPerPx;
  // A line that begins only between two whole zooms has none at the first.
  const wholeWidth = grownWidth || width;
  const dashes = dashesOf(canvas, layer, feature, wholeWidth) ?? (unitPx > maxWholeUnitPx ? unbroken : null);
  const isPlain = dashes === null && sides.length === 1 && offset === 0;
  return {
    color,
    opacity,
    width,
    wholeWidth,
    cap: layout('line-cap'),
    join: layout('line-join'),
    miterLimit,
    sides,
    dashes,
    translate: paint('line-translate'),
    reach: (width / 2 + Math.max(...sides.map(Math.abs))) * Math.max(miterLimit, Math.SQRT2),
    precision: isPlain ? 1 : 2 ** Math.max(0, Math.ceil(Math.log2(8 * unitPx))),
  };
}

/** Dashes are measured in widths of the line at the whole zoom, and grow with the tile from there to the next. */
function dashesOf(canvas: TileCanvas, layer: StyleLayer, feature: TileFeature, wholeWidth: number): DashPattern | null {
  const dasharray = layer.property<readonly number[] | undefined>('line-dasharray').at(canvas.wholeZoom, feature);
  return dasharray ? dashPattern(dasharray, wholeWidth, 0.5 / canvas.unitPx) : null;
}
