/** A map while it is drawn: canvas, view and tiles. */

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { noImages, type SpriteImages } from '../sprites/sprite-images.js';
import type { Tile } from '../tiles/store.js';
import type { PixelBox, Viewport } from '../types.js';
import { type PlacedTile, partOf } from '../view/projection.js';

export interface LoadedTile {
  readonly place: PlacedTile;
  readonly tile: Tile;
}

export interface Frame {
  readonly canvas: Canvas;
  readonly context: SKRSContext2D;
  readonly view: Viewport;
  /** The whole zoom at or below the view's, for filters and layout. */
  readonly wholeZoom: number;
  /** Tiles in view, by the source's name in the style. */
  readonly tiles: ReadonlyMap<string, readonly LoadedTile[]>;
  /** Tiles beside the view, whose circles reach into it. */
  readonly beside: ReadonlyMap<string, readonly LoadedTile[]>;
  /** Images of the style's sprites. */
  readonly images: SpriteImages;
}

/** Colour of a map without a background. */
const paper = '#ffffff';

/** Creates a frame with an empty canvas of the view's size in device pixels. */
export function openFrame(
  view: Viewport,
  tiles: Frame['tiles'],
  images = noImages,
  beside: Frame['beside'] = new Map(),
): Frame {
  const canvas = createCanvas(Math.round(view.width * view.scale), Math.round(view.height * view.scale));
  return { canvas, context: canvas.getContext('2d'), view, wholeZoom: Math.floor(view.zoom), tiles, beside, images };
}

/** Fills the canvas. Maps of known views need no paper. */
export function fillWithPaper({ canvas, context }: Frame): void {
  context.fillStyle = paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
}

/**
 * Frees the pixels of a frame that has been read. Garbage collections come too rarely: until then, each map would be
 * drawn into memory that no processor cache holds.
 */
export function closeFrame({ canvas }: Frame): void {
  canvas.width = 1;
}

/** Returns a tile's part of the canvas like {@link deviceArea}. */
export const tileArea = (frame: Frame, place: PlacedTile): PixelBox => deviceArea(frame, partOf(place));

/**
 * Returns a box's part of the canvas in whole device pixels, so that neighbouring boxes have neither gaps nor overlaps.
 * It is clipped to the canvas; empty (inside out) when nothing is left.
 */
export function deviceArea(
  { canvas, view }: Pick<Frame, 'canvas' | 'view'>,
  { minX, minY, maxX, maxY }: PixelBox,
): PixelBox {
  return {
    minX: Math.max(0, Math.round(minX * view.scale)),
    minY: Math.max(0, Math.round(minY * view.scale)),
    maxX: Math.min(canvas.width, Math.round(maxX * view.scale)),
    maxY: Math.min(canvas.height, Math.round(maxY * view.scale)),
  };
}
