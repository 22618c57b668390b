/** What a reference view is: a map that was looked at, as it is asked for. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { FenceOverlay, SpriteFile } from '../types.js';

export type ReferenceArchive = 'basemap' | 'florence' | 'san-francisco';

export interface ReferenceView {
  /** Also of its image's file. */
  readonly name: string;
  readonly archive: ReferenceArchive;
  /** As in a URL, without a key; a value may hold what a URL may not, but for `+`, `&`, `%` and `#`. */
  readonly query: string;
  /** Those of the query's tag. */
  readonly fences?: readonly FenceOverlay[];
  /** The style that the query names, where it isn't built in. */
  readonly style?: StyleSpecification;
  /** The style's. */
  readonly sprites?: readonly SpriteFile[];
}

export type ViewExtras = Pick<ReferenceView, 'fences' | 'style' | 'sprites'>;

/** Small enough to keep many, large enough to see what is wrong. */
const usualSize = 'width=300&height=200';

/** Views of an archive; a query that has no size gets the usual one. */
export function viewsOf(archive: ReferenceArchive) {
  return (name: string, query: string, extras: ViewExtras = {}): ReferenceView => {
    return { name, archive, query: /\bwidth=/.test(query) ? query : `${usualSize}&${query}`, ...extras };
  };
}
