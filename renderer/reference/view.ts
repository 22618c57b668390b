/** A reference view: a query whose map was approved by eye. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { FenceOverlay, SpriteFile } from '../types.js';

/** The basemap, or the name of a file in `archives`. */
export type ReferenceArchive =
  | 'basemap'
  | 'florence'
  | 'liechtenstein'
  | 'san-francisco'
  | 'san-francisco-protomaps'
  | 'san-francisco-shortbread'
  /** Made by `scripts.ts`. */
  | 'scripts';

/** What is drawn, and from what. */
export interface ReferenceView {
  /** Name of the view and of its image file. */
  readonly name: string;
  readonly archive: ReferenceArchive;
  /** URL query without a key. Only `+`, `&`, `%` and `#` are encoded. */
  readonly query: string;
  /** The geofences of the query's tag. */
  readonly fences?: readonly FenceOverlay[];
  /** The style that the query names, unless it is built in. */
  readonly style?: StyleSpecification;
  /** The sprites of the style. */
  readonly sprites?: readonly SpriteFile[];
}

type ViewExtras = Pick<ReferenceView, 'fences' | 'style' | 'sprites'>;

/** Small enough to keep many images, large enough to see errors. */
const defaultSize = 'width=300&height=200';

/** Returns a function that creates views of an archive. A query without a size gets the default one. */
export function viewsOf(archive: ReferenceArchive) {
  return (name: string, query: string, extras: ViewExtras = {}): ReferenceView => {
    return { name, archive, query: /\bwidth=/.test(query) ? query : `${defaultSize}&${query}`, ...extras };
  };
}
