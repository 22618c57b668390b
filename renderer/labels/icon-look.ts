/** How an icon looks and where it stands to its point, from the style. Pure. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { Frame } from '../draw/frame.js';
import type { Translate } from '../draw/tile-canvas.js';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type Anchor, shareOf } from './anchor.js';
import { turnedBoxes } from './boxes.js';
import type { PlacedIcon } from './label.js';
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
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
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
}

/** Null without an icon, when the style's images have none of this name, or when nothing would be seen. */
export function iconStyleOf(frame: Frame, layer: StyleLayer, feature: TileFeature, name: string | null): IconStyle | null {
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
    width: image.width * size,
    height: image.height * size,
    anchor: layout('icon-anchor'),
    offset: [offsetX * size, offsetY * size],
    shift: [x - textX, y - textY],
    rotation: (layout<number>('icon-rotate') * Math.PI) / 180,
    followsLine: isOnLine && layout('icon-rotation-alignment') !== 'viewport',
    keepsUpright: layout('icon-keep-upright'),
  };
}

/** The icon at a point of the image; `direction` is that of its line there, 0 where it is on none. */
export function placedIcon(style: IconStyle, [x, y]: Point, direction = 0): PlacedIcon {
  const { look, width, height, anchor, offset, shift } = style;
  const { across, down } = shareOf(anchor);
  const angle = style.rotation + (style.followsLine ? lineAngle(style, direction) : 0);
  const right = offset[0] + (0.5 - across) * width;
  const below = offset[1] + (0.5 - down) * height;
  const middleX = x + shift[0] + right * Math.cos(angle) - below * Math.sin(angle);
  const middleY = y + shift[1] + right * Math.sin(angle) + below * Math.cos(angle);
  return { look, x: middleX, y: middleY, angle, boxes: turnedBoxes(middleX, middleY, width, height, angle) };
}

function lineAngle({ keepsUpright }: IconStyle, direction: number): number {
  return keepsUpright && Math.cos(direction) < 0 ? direction + Math.PI : direction;
}
