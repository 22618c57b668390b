/**
 * Fills areas and backgrounds with a repeating image.
 *
 * The pattern starts at the corner of the world, so that it continues across tiles. It grows with the map between whole
 * zooms.
 */
import { type CanvasPattern, DOMMatrix } from '@napi-rs/canvas';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { StyleLayer } from '../style/compile.js';
import { type ImageProperty, imageNameAt } from '../style/image-name.js';
import { isPerFeature } from '../style/property.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { worldPixel } from '../view/projection.js';
import type { Frame } from './frame.js';

/** Returns null when the layer has no pattern, and `missing` when the image is missing and nothing is drawn. */
type Pattern = SpriteImage | 'missing' | null;

/** Returns the pattern that a property names at the frame's zoom, for a feature if it depends on one. */
export function patternAt(
  { images, wholeZoom }: Frame,
  layer: StyleLayer,
  name: string,
  feature?: TileFeature,
): Pattern {
  const property: ImageProperty = layer.property(name);
  if (property.text === '') return null;
  const image = imageNameAt(property, wholeZoom, feature, images.names);
  if (image === null) return isPerFeature(property) ? 'missing' : null;
  return images.get(image) ?? 'missing';
}

/** The length of the context's unit and its origin, in device pixels. */
interface Unit {
  readonly px: number;
  readonly left: number;
  readonly top: number;
}

const devicePixel: Unit = { px: 1, left: 0, top: 0 };

/** Device pixels per image pixel within this distance of 1 count as 1. */
const exactTolerance = 1e-9;

/** Returns the fill style for drawing in these units. */
export function repeated(
  { surface, view, wholeZoom }: Frame,
  image: SpriteImage,
  { px, left, top }: Unit = devicePixel,
): CanvasPattern {
  const scale = (2 ** (view.zoom - wholeZoom) * view.scale) / image.pixelRatio;
  const isExact = Math.abs(scale - 1) < exactTolerance;
  const { bitmap, factor } = isExact ? image.crispBitmap() : { bitmap: image.bitmap(), factor: 1 };
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  // Aligned to whole pixels, so that an image drawn at its own size stays sharp.
  const shiftX = Math.round(-modulo((centerX - view.width / 2) * view.scale, (scale * bitmap.width) / factor));
  const shiftY = Math.round(-modulo((centerY - view.height / 2) * view.scale, (scale * bitmap.height) / factor));
  const pattern = surface.context.createPattern(bitmap, 'repeat');
  const length = scale / factor / px;
  pattern.setTransform(new DOMMatrix([length, 0, 0, length, (shiftX - left) / px, (shiftY - top) / px]));
  return pattern;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
