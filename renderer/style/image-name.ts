/** Evaluates the name of an image. Pure. */
import type { ResolvedImage } from '@maplibre/maplibre-gl-style-spec';
import type { TileFeature } from '../tiles/vector-tile.js';
import type { Property } from './property.js';

/** Possible values of an image property. */
export type ImageProperty = Property<ResolvedImage | string | null | undefined>;

/** Returns the name at a whole zoom, or null. The name need not be among `images`, the existing ones. */
export function imageNameAt(
  property: ImageProperty,
  zoom: number,
  feature: TileFeature | undefined,
  images: string[],
): string | null {
  const name = `${property.at(zoom, feature, images) ?? ''}`;
  return name === '' ? null : name;
}
