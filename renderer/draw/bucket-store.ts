/** An LRU cache of buckets. Layers and styles that select the same features share them. */

import { LRUCache } from 'lru-cache';
import { noImages } from '../sprites/sprite-images.js';
import type { VectorTile } from '../tiles/vector-tile.js';
import { type Bucket, buildBucket } from './bucket.js';
import type { Selection } from './selection.js';

const noBucket: Bucket = { batches: [], features: 0, vertices: 0, weightBytes: 100 };

export class BucketStore {
  private readonly buckets: LRUCache<string, Bucket>;

  /** Creates a cache of about `maxBytes`, including memory of the drawing engine. */
  constructor(maxBytes: number) {
    this.buckets = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bucket) => bucket.weightBytes });
  }

  /**
   * Returns the bucket of a tile. `tileKey` identifies the tile; `zoom` is the whole zoom at or below the view's;
   * `images` are those of the style.
   */
  get(tileKey: string, tile: VectorTile, selection: Selection, zoom: number, images = noImages): Bucket {
    const layer = tile.layers.get(selection.sourceLayer);
    if (!layer) return noBucket;
    const zoomKey = selection.dependsOnZoom ? zoom : '';
    const imagesKey = selection.dependsOnImages ? images.key : '';
    const key = `${tileKey} ${zoomKey} ${imagesKey} ${selection.key}`;
    let bucket = this.buckets.get(key);
    if (!bucket) {
      bucket = buildBucket(layer, selection, zoom, images.names);
      this.buckets.set(key, bucket);
    }
    return bucket;
  }
}
