/** Which image a style names. Pure. */
import type { ResolvedImage } from '@maplibre/maplibre-gl-style-spec';
import type { TileFeature } from '../tiles/vector-tile.js';
import type { Property } from './property.js';

/** What a property that is an image may evaluate to. */
export type ImageProperty = Property<ResolvedImage | string | null | undefined>;

/** The name at a whole zoom; null for none. It need not be one of `images`, those that there are. */
export function imageNameAt(
  property: ImageProperty,
  zoom: number,
  feature: TileFeature | undefined,
  images: string[],
): string | null {
  const name = `${property.at(zoom, feature, images) ?? ''}`;
  return name === '' ? null : name;
}
