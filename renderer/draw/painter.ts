/** The interface of painters: each draws one type of layer feature by feature. */
import type { StyleLayer } from '../style/compile.js';
import type { PixelBox } from '../types.js';
import type { Finish } from './as-one.js';
import type { Batch } from './bucket.js';
import type { TileCanvas } from './tile-canvas.js';

/** Draws the layers of one type from vector tiles. */
export interface VectorPainter {
  /** Properties that the painter reads and that may depend on the feature. */
  readonly properties: readonly string[];
  readonly sortKey: string | null;
  /** Whether drawing is clipped to the tile: shapes cut at its edge continue in the next tile. */
  readonly clipped: boolean;
  /** Returns the part of the tile, in tile units, beyond which features that are painted alike are not seen. */
  near?(canvas: TileCanvas, layer: StyleLayer): PixelBox;
  /** Returns opacity and blur of the layer as a whole. `scale` is device pixels per CSS pixel. */
  finish?(layer: StyleLayer, zoom: number, scale: number): Finish;
  /** Draws with the drawing engine. */
  paint(canvas: TileCanvas, layer: StyleLayer, batch: Batch): void;
  /** Draws on opaque pixels without the engine, what is neither blurred nor has an opacity as a whole. */
  readonly plain?: PlainPainter;
}

/** Draws layers with plain colours, without the drawing engine. */
export interface PlainPainter {
  /** Returns whether the layer has plain colours only. */
  handles(layer: StyleLayer): boolean;
  paint(canvas: TileCanvas, layer: StyleLayer, batch: Batch): void;
}
