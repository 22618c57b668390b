/** The images of the built-in styles: road shields, dots of cities, icons of points of interest. Imports `sprites/`. */
import { LRUCache } from 'lru-cache';
import { type Drawing, drawnImages } from '../sprites/drawn-images.js';
import type { SpriteImages } from '../sprites/sprite-images.js';
import type { BuiltInStyle } from './names.js';
import { palettes } from './palettes/palettes.js';
import { placeDotDrawings } from './place-dots.js';
import { poiDrawings } from './poi-icons.js';
import { shieldDrawings } from './shields.js';

/** Scales are multiples of 0.01, so that few sets of images are kept. */
const kept = new LRUCache<string, SpriteImages>({ max: 24 });

/** Returns what a built-in style draws from images. */
export function builtInDrawings(name: BuiltInStyle): readonly Drawing[] {
  const palette = palettes[name];
  return [...shieldDrawings(palette), ...placeDotDrawings(palette), ...poiDrawings(palette)];
}

/** Returns the images of a built-in style for maps of this scale. */
export function builtInImages(name: BuiltInStyle, scale: number): SpriteImages {
  const pixelRatio = Math.round(100 * scale) / 100;
  const key = `${name} ${pixelRatio}`;
  let images = kept.get(key);
  if (!images) {
    images = drawnImages(name, builtInDrawings(name), pixelRatio);
    kept.set(key, images);
  }
  return images;
}
