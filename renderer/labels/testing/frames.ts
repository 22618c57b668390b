/** Creates frames of synthetic tiles. For tests. */
import { type Frame, fillWithPaper, openFrame } from '../../draw/frame.js';
import type { Filling } from '../../render.js';
import { noImages } from '../../sprites/sprite-images.js';
import { type CompiledStyle, compileStyle } from '../../style/compile.js';
import { styleOf } from '../../testing/pictures.js';
import { type DrawnFeature, tileBytes } from '../../testing/tiles.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import type { PixelBox, Viewport } from '../../types.js';
import { coverTiles } from '../../view/projection.js';
import { drawLabels } from '../draw.js';
import type { PlacedLabel } from '../label.js';
import { preparedLabels } from '../labels.js';

/** Returns a tile's features by its column and row. */
export type TileFeatures = (x: number, y: number) => readonly DrawnFeature[];

/** Returns a frame with the view's tiles at `zoom`, each with a layer `shapes`. */
export function frameOf(view: Viewport, zoom: number, features: TileFeatures, images = noImages): Frame {
  const tiles = coverTiles(view, zoom).map((place) => {
    const tile = decodeVectorTile(tileBytes({ shapes: features(place.x, place.y) }));
    return { place, tile: { kind: 'vector', key: `${place.x}/${place.y}`, tile } as const };
  });
  const frame = openFrame(view, new Map([['tiles', tiles]]), images);
  fillWithPaper(frame);
  return frame;
}

/**
 * Returns a style of symbol layers, from bottom to top, that draw the property `name` of `shapes` with the same paint.
 */
export function symbolStyle(layouts: readonly object[], paint: object = {}, metadata: object = {}): CompiledStyle {
  const layers = layouts.map((layout) => {
    return {
      type: 'symbol',
      source: 'tiles',
      'source-layer': 'shapes',
      layout: { 'text-field': '{name}', ...layout },
      paint,
      metadata,
    };
  });
  return compileStyle(styleOf(layers));
}

/** Returns the placed labels of a style. */
export const labelsOf = (
  frame: Frame,
  style: CompiledStyle,
  keepFree: readonly PixelBox[],
  ...rest: [language: string, filling?: Filling]
): PlacedLabel[] => preparedLabels(frame, style, ...rest).place(keepFree);

/** Returns the labels that are placed in a frame by layers with these layouts, in English. */
export function labelsIn(frame: Frame, layouts: readonly object[], keepFree: readonly PixelBox[] = []): PlacedLabel[] {
  return labelsOf(frame, symbolStyle(layouts), keepFree, 'en');
}

/** Places and draws the labels of a style. */
export function paintLabels(frame: Frame, style: CompiledStyle): void {
  drawLabels(frame.surface, frame.view.scale, labelsOf(frame, style, [], 'en'));
}

/** Returns the texts of the labels, in the order of placement. */
export const textsOf = (labels: readonly PlacedLabel[]): string[] => labels.map(({ candidate }) => candidate.text);
