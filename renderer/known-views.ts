/**
 * Keeps the pixels and the label candidates of views that are drawn again, such as the map of one site with other
 * markers each time.
 *
 * The first map of a view keeps only its key, so that views which are drawn once cost nothing. The second keeps its
 * pixels and candidates, and the third uses them.
 */
import { LRUCache } from 'lru-cache';
import type { Surface } from './draw/surface.js';
import type { PreparedLabels } from './labels/label.js';
import type { Counted } from './png/colors.js';
import type { PixelBox } from './types.js';

/** What the maps of one view have in common. */
export interface KnownView {
  /** Everything below overlays and labels. */
  ground?: Uint32Array;
  /** Null: it has too many colours. */
  labelled?: Labelled | null;
  /** Labels before they are placed. Undefined for maps without labels. */
  readonly prepared: PreparedLabels | undefined;
}

/** The ground with labels. */
export interface Labelled {
  readonly picture: Counted;
  /** Where each label is drawn, by what is drawn. */
  readonly labels: ReadonlyMap<string, PixelBox>;
}

/** Bytes of a pixel of the ground, and of its number in the ground with labels. */
const pixelBytes = 4 + 2;
/** Bytes of a candidate of streets with its placements, as measured. Those of the basemap take a quarter. */
const candidateBytes = 20 * 2 ** 10;
/** Bytes that the candidates of a view take together, because they keep the bytes of its tiles in memory. */
const tileBytes = 256 * 2 ** 10;
/** A view may take this share of the memory. */
const maxShare = 1 / 2;

/** The views that were drawn again lately. */
export class KnownViews {
  /**
   * With the sizes that the views would have. A view that returns after so many others would be evicted before its next
   * map.
   */
  private readonly drawnOnce: LRUCache<string, true>;
  private readonly views: LRUCache<string, KnownView>;

  /** Creates a cache of at most this many bytes. */
  constructor(private readonly maxBytes: number) {
    const maxSize = Math.max(1, maxBytes);
    this.drawnOnce = new LRUCache({ maxSize });
    this.views = new LRUCache({ maxSize });
  }

  /** Returns what is known of a view, from its third map on. */
  get(key: string): KnownView | undefined {
    return this.views.get(key);
  }

  /**
   * Notes a map of a view that is not known. Returns where to keep its pixels at the second map, and undefined at the
   * first, and when the view is too large to be kept.
   */
  add(key: string, { width, height }: Surface, prepared: PreparedLabels | undefined): KnownView | undefined {
    const size = pixelBytes * width * height + (prepared ? tileBytes + candidateBytes * prepared.count : 0);
    if (size > maxShare * this.maxBytes) return undefined;
    if (!this.drawnOnce.delete(key)) {
      this.drawnOnce.set(key, true, { size });
      return undefined;
    }
    const view: KnownView = { prepared };
    this.views.set(key, view, { size });
    return view;
  }
}
