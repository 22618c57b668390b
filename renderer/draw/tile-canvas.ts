/** One layer of a vector tile on the canvas. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { SpriteImages } from '../sprites/sprite-images.js';
import type { PixelBox } from '../types.js';
import type { PlacedTile } from '../view/projection.js';
import { type Frame, tileArea } from './frame.js';
import type { Target } from './plain.js';

/** A translation in CSS pixels, right and down. */
export type Translate = readonly [x: number, y: number];

/** Where one layer of one tile is painted, and in which units. */
export class TileCanvas {
  readonly images: SpriteImages;
  readonly zoom: number;
  readonly wholeZoom: number;
  /** The tile's part of the canvas, in whole device pixels. */
  readonly area: PixelBox;
  /** Device pixels per tile unit. */
  readonly unitPx: number;
  /** Tile units per CSS pixel. */
  readonly unitsPerPx: number;
  /** CSS pixels of the tile per CSS pixel at its whole zoom: 1 to 2. */
  readonly enlargement: number;

  constructor(
    readonly frame: Frame,
    private readonly place: PlacedTile,
    readonly extent: number,
  ) {
    this.images = frame.images;
    this.zoom = frame.view.zoom;
    this.wholeZoom = frame.wholeZoom;
    this.area = tileArea(frame, place);
    this.unitPx = (place.sizePx * frame.view.scale) / extent;
    this.unitsPerPx = extent / place.sizePx;
    this.enlargement = 2 ** (this.zoom - this.wholeZoom);
  }

  /** Returns the context of the whole map, in device pixels. */
  get context(): SKRSContext2D {
    return this.frame.surface.context;
  }

  /** The tile's part of the pixels, for our own painters. Its unit is the tile unit. */
  target(translate: Translate): Target {
    const picture = { bitmap: this.frame.surface.bitmap, area: this.area };
    return { picture, unitPx: this.unitPx, ...this.origin(translate) };
  }

  /** Returns whether no pixel of the tile is on the map. */
  get isEmpty(): boolean {
    return this.area.minX >= this.area.maxX || this.area.minY >= this.area.maxY;
  }

  /** Returns the visible part plus a margin of this many tile units, in tile units before `translate`. */
  visible(margin: number, translate: Translate): PixelBox {
    return this.inUnits(this.area, margin, translate);
  }

  /** Returns the image plus a margin of this many tile units, in tile units before `translate`. */
  image(margin: number, translate: Translate): PixelBox {
    return this.inUnits(this.frame.surface.area, margin, translate);
  }

  private inUnits({ minX, minY, maxX, maxY }: PixelBox, margin: number, translate: Translate): PixelBox {
    const { left, top } = this.origin(translate);
    return {
      minX: (minX - left) / this.unitPx - margin,
      minY: (minY - top) / this.unitPx - margin,
      maxX: (maxX - left) / this.unitPx + margin,
      maxY: (maxY - top) / this.unitPx + margin,
    };
  }

  /** Clips drawing to the tile's area. */
  clipped(draw: () => void): void {
    const { minX, minY, maxX, maxY } = this.area;
    const { context } = this;
    context.save();
    context.resetTransform();
    context.beginPath();
    context.rect(minX, minY, maxX - minX, maxY - minY);
    context.clip();
    draw();
    context.restore();
  }

  /** Sets the coordinates to tile units, or to `precision` per tile unit, relative to `origin`. */
  useTileUnits(
    [shiftX, shiftY]: Translate,
    precision = 1,
    [originX, originY]: readonly [x: number, y: number] = [0, 0],
  ): void {
    const { left, top } = this.origin([shiftX, shiftY]);
    const scale = this.unitPx / precision;
    this.context.setTransform(scale, 0, 0, scale, left + originX * this.unitPx, top + originY * this.unitPx);
  }

  /** The tile's corner in device pixels. */
  origin([shiftX, shiftY]: Translate): { left: number; top: number } {
    const { scale } = this.frame.view;
    return { left: (this.place.left + shiftX) * scale, top: (this.place.top + shiftY) * scale };
  }
}
