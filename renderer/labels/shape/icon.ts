/** Reads an icon's style and computes its position at a point, on a line or around its text. Pure. */
import type { Frame } from '../../draw/frame.js';
import type { Translate } from '../../draw/tile-canvas.js';
import { type Stretched, stretched, unstretched } from '../../sprites/stretch.js';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import type { Point } from '../anchors/polyline.js';
import { type Padding, turnedBoxes } from '../collision/boxes.js';
import type { IconPaint, PlacedIcon, TextRectangle } from '../label.js';
import { type Anchor, alignmentOf } from './anchor-offset.js';

/** A feature's icon properties, from the style. */
export interface IconStyle {
  readonly paint: IconPaint;
  readonly anchor: Anchor;
  /** Offset of the anchor from the point, right and down, before rotation. CSS pixels. */
  readonly offset: Point;
  /** Translation of the point, in CSS pixels. */
  readonly shift: Point;
  /** Radians, clockwise. */
  readonly rotation: number;
  /** Whether the icon rotates with its line, and if so whether it is kept upright. */
  readonly followsLine: boolean;
  readonly keepsUpright: boolean;
  /** Directions in which the icon is stretched to fit its text. */
  readonly fit: 'none' | 'width' | 'height' | 'both';
  readonly fitPadding: Padding;
}

/** Returns the unstretched width in CSS pixels. */
export const iconWidth = ({ paint: { image, size } }: IconStyle): number => image.width * size;

/** Returns null without an icon, when the sprite has no image of this name, or when the icon would be invisible. */
export function iconStyleOf(
  frame: Frame,
  layer: StyleLayer,
  feature: TileFeature,
  name: string | null,
): IconStyle | null {
  const image = name === null ? undefined : frame.images.get(name);
  if (!image) return null;
  const { zoom } = frame.view;
  const layout = <T>(property: string): T => layer.property<T>(property).at(frame.wholeZoom, feature);
  const paint = <T>(property: string): T => layer.property<T>(property).at(zoom, feature);

  // Like paint properties, the size is interpolated between whole zooms.
  const size = paint<number>('icon-size');
  const opacity = paint<number>('icon-opacity');
  if (size <= 0 || opacity === 0) return null;
  const [offsetX, offsetY] = layout<Point>('icon-offset');
  const [x, y] = layer.property<Translate>('icon-translate').at(zoom);
  // Points are already translated with their texts.
  const [textX, textY] = layer.property<Translate>('text-translate').at(zoom);
  const [top, right, bottom, left] = layout<readonly [number, number, number, number]>('icon-text-fit-padding');
  const isOnLine = layout('symbol-placement') !== 'point';
  return {
    paint: {
      image,
      size,
      opacity,
      color: paint('icon-color'),
      haloColor: paint('icon-halo-color'),
      haloWidthPx: paint('icon-halo-width'),
    },
    anchor: layout('icon-anchor'),
    offset: [offsetX * size, offsetY * size],
    shift: [x - textX, y - textY],
    rotation: (layout<number>('icon-rotate') * Math.PI) / 180,
    followsLine: isOnLine && layout('icon-rotation-alignment') !== 'viewport',
    keepsUpright: layout('icon-keep-upright'),
    fit: layout('icon-text-fit'),
    fitPadding: { top, right, bottom, left },
  };
}

/**
 * Returns the icon at a point of the image, or around its text. `direction` is that of the line, or 0 without a line.
 */
export function placedIcon(style: IconStyle, [x, y]: Point, direction = 0, text?: TextRectangle): PlacedIcon {
  const { paint, anchor, offset, shift, fit } = style;
  if (fit !== 'none' && text) return fittedIcon(style, text);
  const columns = unstretched(paint.image.columns.length, unitPxOf(paint));
  const rows = unstretched(paint.image.rows.length, unitPxOf(paint));
  const { across, down } = alignmentOf(anchor);
  const angle = style.rotation + (style.followsLine ? lineAngle(style, direction) : 0);
  const right = offset[0] + (0.5 - across) * columns.length;
  const below = offset[1] + (0.5 - down) * rows.length;
  return iconAt(paint, columns, rows, [x + shift[0], y + shift[1]], [right, below], angle);
}

/**
 * Fits the icon's content area to the text and its padding. In a direction that is not fitted, the icon is centred on
 * the text.
 */
function fittedIcon({ paint, offset, shift, fit, fitPadding }: IconStyle, text: TextRectangle): PlacedIcon {
  const { image } = paint;
  const unitPx = unitPxOf(paint);
  const { top, right, bottom, left } = fitPadding;
  const isWide = fit === 'width' || fit === 'both';
  const isHigh = fit === 'height' || fit === 'both';
  const columns = isWide
    ? stretched(image.columns, text.width + left + right, unitPx)
    : unstretched(image.columns.length, unitPx);
  const rows = isHigh
    ? stretched(image.rows, text.height + top + bottom, unitPx)
    : unstretched(image.rows.length, unitPx);
  const fromX = isWide ? -text.width / 2 - left - columns.before : -columns.length / 2;
  const fromY = isHigh ? -text.height / 2 - top - rows.before : -rows.length / 2;
  const middle: Point = [fromX + columns.length / 2 + offset[0], fromY + rows.length / 2 + offset[1]];
  return iconAt(paint, columns, rows, [text.x + shift[0], text.y + shift[1]], middle, text.angle);
}

/** Returns the CSS pixels per image pixel. */
const unitPxOf = ({ image, size }: IconPaint): number => size / image.pixelRatio;

/** Returns the icon whose centre is `right` and `below` of the point, in the icon's rotated coordinates. */
function iconAt(
  paint: IconPaint,
  columns: Stretched,
  rows: Stretched,
  [x, y]: Point,
  [right, below]: Point,
  angle: number,
): PlacedIcon {
  const middleX = x + right * Math.cos(angle) - below * Math.sin(angle);
  const middleY = y + right * Math.sin(angle) + below * Math.cos(angle);
  const boxes = turnedBoxes(middleX, middleY, columns.length, rows.length, angle);
  return { paint, x: middleX, y: middleY, columns, rows, angle, boxes };
}

function lineAngle({ keepsUpright }: IconStyle, direction: number): number {
  return keepsUpright && Math.cos(direction) < 0 ? direction + Math.PI : direction;
}
