/** The files that interactive maps ask for. Apart, so that the API does not load what draws. */
import type { FontFace } from '../fonts.js';
import type { BuiltInStyle } from '../styles/names.js';

/**
 * The tiles that interactive maps load: those of the configured archive, those of the built-in basemap, and the
 * basemap's names beyond the archive.
 */
export const tilesets = ['archive', 'basemap', 'beyond'] as const;
/** A set of tiles that interactive maps load. */
export type Tileset = (typeof tilesets)[number];

/** A file of an interactive map. */
export type WebFileRequest =
  | { readonly file: 'tile'; readonly tileset: Tileset; readonly zoom: number; readonly x: number; readonly y: number }
  /** `start` is the first of 256 characters. */
  | { readonly file: 'glyphs'; readonly face: FontFace; readonly start: number }
  | {
      readonly file: 'sprite';
      readonly style: BuiltInStyle;
      readonly format: 'json' | 'png';
      readonly pixelRatio: number;
    };

/** A file of interactive maps. `isGzip`: the bytes are compressed, for `content-encoding`. */
export interface WebFile {
  readonly kind: 'file';
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly isGzip: boolean;
}

/** `none`: the source has no tile there. `unreadable`: the source could not be read, with the reason. */
export type WebFileResult =
  | WebFile
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly reason: string };
