/** An LRU cache of buckets. Layers and styles that select the same features share them. */
import { noImages } from '../sprites/sprite-images.js';
import { CellCache } from '../tiles/cell-cache.js';
import type { VectorTile } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';
import { type Bucket, bucketBuilder, joined } from './bucket.js';
import type { Selection } from './selection.js';

const noBucket: Bucket = { batches: [], features: 0, vertices: 0, weightBytes: 0 };
/** Memory of an entry beside its buckets. */
const entryBytes = 200;

/** The buckets of the tiles that a renderer has drawn lately. */
export class BucketStore {
  /** The buckets of a selection by cell; that of the whole tile comes first if it is not divided. */
  private readonly buckets: CellCache<Bucket>;

  /** Creates a cache of about `maxBytes`, including memory of the drawing engine. */
  constructor(maxBytes: number) {
    this.buckets = new CellCache(maxBytes, entryBytes, ({ weightBytes }) => weightBytes);
  }

  /**
   * Returns the bucket of a tile. `tileKey` identifies the tile; `zoom` is the whole zoom at or below the view's;
   * `images` are those of the style. If all features are painted alike, those far from `near`, in tile units, may be
   * left out.
   */
  get(
    tileKey: string,
    tile: VectorTile,
    selection: Selection,
    zoom: number,
    images = noImages,
    near: PixelBox | null = null,
  ): Bucket {
    const layer = tile.layers.get(selection.sourceLayer);
    if (!layer) return noBucket;
    const zoomKey = selection.dependsOnZoom ? zoom : '';
    const imagesKey = selection.dependsOnImages ? images.key : '';
    const isDivided = near !== null && selection.isUniform;
    const key = `${tileKey} ${zoomKey} ${imagesKey} ${isDivided} ${selection.key}`;
    const buckets = this.buckets.get(key, isDivided ? layer.cellsNear(near) : [0], () => {
      const build = bucketBuilder(layer, selection, zoom, images.names);
      return (cell) => build(isDivided ? layer.featuresIn(cell) : layer.features);
    });
    return isDivided ? joined(buckets) : buckets[0]!;
  }
}
