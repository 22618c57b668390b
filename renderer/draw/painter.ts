/** What a kind of layer brings to be painted feature by feature. */

import type { StyleLayer } from '../style/compile.js';
import type { Batch } from './bucket.js';
import type { TileCanvas } from './tile-canvas.js';

export interface VectorPainter {
  /** The properties that it reads and that may depend on the feature. */
  readonly properties: readonly string[];
  readonly sortKey: string | null;
  /** Whether it draws within the tile only: shapes that a tile cuts off go on in the next one. */
  readonly clipped: boolean;
  paint(canvas: TileCanvas, layer: StyleLayer, batch: Batch): void;
}
