/** How an icon looks and where it stands to its point or its text, from the style. Pure. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { Frame } from '../draw/frame.js';
import type { Translate } from '../draw/tile-canvas.js';
import type { SpriteImage } from '../sprites/sprite-image.js';
import { type Stretched, stretched, unstretched } from '../sprites/stretch.js';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type Anchor, shareOf } from './anchor.js';
import { type Padding, turnedBoxes } from './boxes.js';
import type { PlacedIcon, TextFrame } from './label.js';
import type { Point } from './polyline.js';

export interface IconLook {
  readonly image: SpriteImage;
  /** Of the image's own size. */
  readonly size: number;
  readonly opacity: number;
  /** Of images that are only an outline. */
  readonly color: Color;
  readonly haloColor: Color;
  /** CSS pixels. */
  readonly haloWidthPx: number;
}

/** How a style wants a feature's icon to be set. */
export interface IconStyle {
  readonly look: IconLook;
  readonly anchor: Anchor;
  /** Of the anchor from the point, right and down, before it is turned; in CSS pixels. */
  readonly offset: Point;
  /** Of the point. */
  readonly shift: Point;
  /** Radians, clockwise. */
  readonly rotation: number;
  /** Whether it is turned with its line, and if so whether it never stands on its head. */
  readonly followsLine: boolean;
  readonly keepsUpright: boolean;
  /** In which directions it is made as large as its text. */
  readonly fit: 'none' | 'width' | 'height' | 'both';
  readonly fitPadding: Padding;
}

/** Its own width, in CSS pixels. */
export const iconWidth = ({ look: { image, size } }: IconStyle): number => image.width * size;

/** Null without an icon, when the style's images have none of this name, or when nothing would be seen. */
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

  // Like what is painted, the size grows between whole zooms.
  const size = paint<number>('icon-size');
  const opacity = paint<number>('icon-opacity');
  if (size <= 0 || opacity === 0) return null;
  const [offsetX, offsetY] = layout<Point>('icon-offset');
  const [x, y] = layer.property<Translate>('icon-translate').at(zoom);
  // Points are where the texts are, already shifted with them.
  const [textX, textY] = layer.property<Translate>('text-translate').at(zoom);
  const [top, right, bottom, left] = layout<readonly [number, number, number, number]>('icon-text-fit-padding');
  const isOnLine = layout('symbol-placement') !== 'point';
  return {
    look: {
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
 * The icon at a point of the image, or around its text; `direction` is that of its line there, 0 where it is on none.
 */
export function placedIcon(style: IconStyle, [x, y]: Point, direction = 0, text?: TextFrame): PlacedIcon {
  const { look, anchor, offset, shift, fit } = style;
  if (fit !== 'none' && text) return fittedIcon(style, text);
  const columns = unstretched(look.image.columns.length, unitPxOf(look));
  const rows = unstretched(look.image.rows.length, unitPxOf(look));
  const { across, down } = shareOf(anchor);
  const angle = style.rotation + (style.followsLine ? lineAngle(style, direction) : 0);
  const right = offset[0] + (0.5 - across) * columns.length;
  const below = offset[1] + (0.5 - down) * rows.length;
  return iconAt(look, columns, rows, [x + shift[0], y + shift[1]], [right, below], angle);
}

/**
 * Its content is where the text is, with the padding around it; in a direction that it isn't fitted in, its middle is
 * the text's.
 */
function fittedIcon({ look, offset, shift, fit, fitPadding }: IconStyle, text: TextFrame): PlacedIcon {
  const { image } = look;
  const unitPx = unitPxOf(look);
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
  return iconAt(look, columns, rows, [text.x + shift[0], text.y + shift[1]], middle, text.angle);
}

/** CSS pixels for each pixel of the image. */
const unitPxOf = ({ image, size }: IconLook): number => size / image.pixelRatio;

/** Its middle is so far right of and below the point, as seen when it is turned. */
function iconAt(
  look: IconLook,
  columns: Stretched,
  rows: Stretched,
  [x, y]: Point,
  [right, below]: Point,
  angle: number,
): PlacedIcon {
  const middleX = x + right * Math.cos(angle) - below * Math.sin(angle);
  const middleY = y + right * Math.sin(angle) + below * Math.cos(angle);
  const boxes = turnedBoxes(middleX, middleY, columns.length, rows.length, angle);
  return { look, x: middleX, y: middleY, columns, rows, angle, boxes };
}

function lineAngle({ keepsUpright }: IconStyle, direction: number): number {
  return keepsUpright && Math.cos(direction) < 0 ? direction + Math.PI : direction;
}
