/** Stroke properties of one batch of lines. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { sharpLine } from './blur.js';
import { type DashPattern, dashPattern, unbroken } from './dash.js';
import { type Beside, maxMovedTip } from './offset.js';
import type { TileCanvas, Translate } from './tile-canvas.js';

/** A pen. Lengths in tile units. */
export interface Pen extends Beside {
  readonly color: Color;
  readonly opacity: number;
  readonly width: number;
  /** Width at the whole zoom, scaled with the tile. */
  readonly wholeWidth: number;
  readonly cap: 'butt' | 'round' | 'square';
  /** Dash pattern of clipped lines; null when lines are drawn whole. */
  readonly dashes: DashPattern | null;
  readonly translate: Translate;
  /** Maximum distance from the line that is drawn. */
  readonly reach: number;
  /** Precision of coordinates, in parts of a tile unit. */
  readonly precision: number;
}

/**
 * Device pixels per tile unit above which lines are clipped. The drawing engine's numbers have 24 bits, therefore long
 * lines would be visibly off.
 */
const maxWholeUnitPx = 32;

/** Length over which moved lines bend towards sharp corners, as in MapLibre GL JS. CSS pixels at the whole zoom. */
const bendPx = 15;

/** Returns the pen, or null when nothing would be visible. */
export function penOf(canvas: TileCanvas, layer: StyleLayer, feature: TileFeature): Pen | null {
  const { zoom, wholeZoom, unitPx, unitsPerPx } = canvas;
  const paint = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const layout = <T>(name: string): T => layer.property<T>(name).at(wholeZoom, feature);

  const blur = Math.max(0, paint<number>('line-blur')) * unitsPerPx;
  const fullWidth = paint<number>('line-width') * unitsPerPx;
  const width = blur > 0 ? sharpLine(fullWidth * unitPx, blur * unitPx).width / unitPx : fullWidth;
  const color = paint<Color>('line-color');
  const opacity = paint<number>('line-opacity');
  if (fullWidth <= 0 || opacity === 0) return null;

  const gapWidth = paint<number>('line-gap-width') * unitsPerPx;
  const offset = paint<number>('line-offset') * unitsPerPx;
  const aside = (gapWidth + fullWidth) / 2;
  const sides = gapWidth > 0 ? [-aside, aside] : [0];
  const miterLimit = layout<number>('line-miter-limit');
  const grownWidth = layer.property<number>('line-width').at(wholeZoom, feature) * canvas.enlargement * unitsPerPx;
  // A line that appears only between two whole zooms has no width at the first.
  const wholeWidth = grownWidth || fullWidth;
  const cap = layout<Pen['cap']>('line-cap');
  const dasharray = layer.property<readonly number[] | undefined>('line-dasharray').at(wholeZoom, feature);
  if (dasharray && !hasLength(dasharray)) return null;
  const pattern = dasharray ? dashesOf(canvas, dasharray, wholeWidth, cap) : null;
  const dashes = pattern ?? (unitPx > maxWholeUnitPx ? unbroken : null);
  const isPlain = dashes === null && sides.length === 1 && offset === 0;
  const strokeReach = (width / 2 + Math.max(...sides)) * Math.max(miterLimit, Math.SQRT2);
  return {
    color,
    opacity,
    width,
    wholeWidth,
    // Square caps would close the gaps between dashes. MapLibre GL JS draws such dashes without caps.
    cap: pattern && cap === 'square' ? 'butt' : cap,
    join: layout('line-join'),
    miterLimit,
    offset,
    bend: bendPx * canvas.enlargement * unitsPerPx,
    sides,
    dashes,
    translate: paint('line-translate'),
    reach: strokeReach + maxMovedTip * Math.abs(offset),
    precision: isPlain ? 1 : 2 ** Math.max(0, Math.ceil(Math.log2(8 * unitPx))),
  };
}

/** A dash without a length has no direction, and no caps are drawn. Device pixels. */
const minRoundDashPx = 0.01;

/**
 * Returns the dash pattern. Dashes are measured in line widths at the whole zoom, and grow with the tile. With round
 * caps, dashes without a length are dots.
 */
function dashesOf(
  { unitPx }: TileCanvas,
  dasharray: readonly number[],
  wholeWidth: number,
  cap: Pen['cap'],
): DashPattern | null {
  const minDash = cap === 'round' ? minRoundDashPx / unitPx : 0;
  return dashPattern(dasharray, wholeWidth, 0.5 / unitPx, minDash);
}

/** Returns whether a pattern has a dash or a gap. MapLibre GL JS draws nothing of lines with any other pattern. */
const hasLength = (dasharray: readonly number[]): boolean => dasharray.some((length) => length > 0);
