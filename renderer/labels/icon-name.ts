/** Which image marks a feature. Pure. */

import type { SpriteImages } from '../sprites/sprite-images.js';
import type { StyleLayer } from '../style/compile.js';
import { type ImageProperty, imageNameAt } from '../style/image-name.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { isTemplate } from './text.js';

/** The name of the image of a layer's feature at a whole zoom; null for none, or one that isn't there. */
export function iconName(layer: StyleLayer, feature: TileFeature, zoom: number, images: SpriteImages): string | null {
  const property: ImageProperty = layer.property('icon-image');
  if (property.text === '' || images.names.length === 0) return null;
  const value = imageNameAt(property, zoom, feature, images.names);
  if (value === null) return null;
  const name = value.includes('{') && isTemplate(property) ? withTokens(value, feature) : value;
  return images.get(name) ? name : null;
}

/** `{maki}` is the property of that name. */
const withTokens = (template: string, { properties }: TileFeature): string =>
  template.replace(/{([^{}]+)}/g, (_token, name: string) => `${properties[name] ?? ''}`);
