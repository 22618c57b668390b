/** A map while it is drawn: pixels, view and tiles. */
import { noImages, type SpriteImages } from '../sprites/sprite-images.js';
import type { Tile } from '../tiles/store.js';
import type { PixelBox, Viewport } from '../types.js';
import { type PlacedTile, partOf } from '../view/projection.js';
import { Surface } from './surface.js';
import { DrawingWork } from './work.js';

/** A tile that is in memory, and its place in the view. */
export interface LoadedTile {
  readonly place: PlacedTile;
  readonly tile: Tile;
}

/** One map while it is drawn. */
export interface Frame {
  readonly surface: Surface;
  readonly view: Viewport;
  /** The whole zoom at or below the view's, for filters and layout. */
  readonly wholeZoom: number;
  /** Tiles in view, by the source's name in the style. */
  readonly tiles: ReadonlyMap<string, readonly LoadedTile[]>;
  /** Tiles beside the view, whose circles reach into it. */
  readonly beside: ReadonlyMap<string, readonly LoadedTile[]>;
  /** Images of the style's sprites. */
  readonly images: SpriteImages;
  /** What the layers have drawn so far. */
  readonly work: DrawingWork;
  /** The parts of the image that are drawn, in CSS pixels; undefined for all of it. */
  readonly parts?: readonly PixelBox[];
}

/** Pixel of a map without a background: white. */
const paper = 0xffffffff;

/** Creates a frame with transparent pixels of the view's size in device pixels. */
export function openFrame(
  view: Viewport,
  tiles: Frame['tiles'],
  images = noImages,
  beside: Frame['beside'] = new Map(),
  work = new DrawingWork(Number.POSITIVE_INFINITY),
): Frame {
  const surface = new Surface(Math.round(view.width * view.scale), Math.round(view.height * view.scale));
  return { surface, view, wholeZoom: Math.floor(view.zoom), tiles, beside, images, work };
}

/** Fills the frame. Maps of known views need no paper. */
export function fillWithPaper({ surface }: Frame): void {
  surface.replacePixels().fill(paper);
}

/** Returns the parts of boxes in the frame, in whole device pixels. The boxes are in CSS pixels of the image. */
export const inDevice = (frame: Frame, boxes: readonly PixelBox[]): PixelBox[] =>
  boxes.map((box) => deviceArea(frame, box)).filter(({ minX, minY, maxX, maxY }) => minX < maxX && minY < maxY);

/** Returns a tile's part of the frame like {@link deviceArea}. */
export const tileArea = (frame: Frame, place: PlacedTile): PixelBox => deviceArea(frame, partOf(place));

/**
 * Returns a box's part of the frame in whole device pixels, so that neighbouring boxes have neither gaps nor overlaps.
 * It is clipped to the frame; empty (inside out) when nothing is left.
 */
export function deviceArea(
  { surface, view }: Pick<Frame, 'surface' | 'view'>,
  { minX, minY, maxX, maxY }: PixelBox,
): PixelBox {
  return {
    minX: Math.max(0, Math.round(minX * view.scale)),
    minY: Math.max(0, Math.round(minY * view.scale)),
    maxX: Math.min(surface.width, Math.round(maxX * view.scale)),
    maxY: Math.min(surface.height, Math.round(maxY * view.scale)),
  };
}
