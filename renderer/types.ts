/**
 * Static maps: what is asked, what a map is drawn from, and what comes back.
 *
 * Flows in: a {@link MapRequest} and sources. Flows out: an encoded image. The room can be used without the rest of
 * Fenceline: it imports only `schemas` (errors and names) and, for icons and sprites by URL, `outbound`. Inside it,
 * `request/` reads parameters, `view/` knows the projection, `sources/` fetch tiles, `basemap/` bakes the default
 * archive, `styles/` are ours, `tiles/` decode, `style/` compiles, `sprites/` have the images of styles, `draw/`
 * paints, `labels/` place text and icons, `overlays/` add markers, paths and attribution; `render.ts` reads top to
 * bottom.
 *
 * Longitude comes first everywhere but in a request's text. Sizes are CSS pixels unless they say device pixels. Zoom is
 * that of a world 512 pixels wide at 0.
 */

/** [longitude, latitude] in degrees. */
export type Position = readonly [longitude: number, latitude: number];

/** Red, green, blue (0 to 255) and opacity (0 to 1). */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

export type ImageFormat = 'png' | 'webp' | 'jpg';

/** Either where the camera stands, or what must be visible. A part that is null follows from what must be visible. */
export interface Camera {
  readonly center: Position | null;
  /** 1 to 23, fractional. */
  readonly zoom: number | null;
  /** West, south, east, north; east < west crosses the antimeridian. */
  readonly bbox: readonly [west: number, south: number, east: number, north: number] | null;
}

/** One `markers` parameter. */
export interface MarkerGroup {
  readonly color: Color;
  readonly size: 'normal' | 'small';
  /** A URL, what an uploaded marker is called among the {@link Uploads}, or null for the default pin. */
  readonly icon: string | null;
  readonly locations: readonly Position[];
}

/** One `path` parameter. Widths in CSS pixels. */
export interface PathOverlay {
  readonly stroke: Color;
  readonly width: number;
  readonly border: Color;
  readonly borderWidth: number;
  readonly locations: readonly Position[];
}

/** A geofence that is drawn. */
export type FenceOverlay =
  | { readonly type: 'circle'; readonly center: Position; readonly radiusM: number }
  | { readonly type: 'polygon'; readonly ring: readonly Position[] };

export interface MapRequest {
  /** 100 to 2048. */
  readonly width: number;
  readonly height: number;
  /** 1 to 3, fractional: device pixels per CSS pixel. */
  readonly scale: number;
  readonly camera: Camera;
  /**
   * `svc-default-v1`, `svc-light-v1`, `svc-dark-v1`, or whatever the {@link Uploads} of the request are to be
   * remembered by.
   */
  readonly style: string;
  /** Two letters, or `local`: names as they are written there. */
  readonly language: string;
  readonly format: ImageFormat;
  readonly markers: readonly MarkerGroup[];
  readonly paths: readonly PathOverlay[];
  readonly fences: readonly FenceOverlay[];
}

/** What a request names that its owner has uploaded. Equal names have equal contents: a change is another name. */
export interface Uploads {
  /** JSON of the MapLibre style that isn't built in; null when the request names a built-in one. */
  readonly style: Uint8Array | null;
  /** PNG or SVG files by what the request's markers call them. */
  readonly icons: ReadonlyMap<string, Uint8Array>;
}

/** The two files of a sprite, as they were fetched. */
export interface SpriteFile {
  /** What the style's names of its images begin with, before a colon; empty for the default sprite. */
  readonly id: string;
  /** JSON. */
  readonly index: Uint8Array;
  /** PNG. */
  readonly image: Uint8Array;
}

/** The sprites of a style. */
export interface Sprites {
  readonly files: readonly SpriteFile[];
  /** Those that could not be had. */
  readonly missing: number;
}

/** Where the camera stands, decided. */
export interface Viewport {
  readonly center: Position;
  readonly zoom: number;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

/** A box in CSS pixels of the image that labels must keep free of. */
export interface PixelBox {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** How an archive names its layers; decided by the archive's own metadata or a look at a tile. */
export type TileSchema = 'fenceline' | 'openmaptiles' | 'protomaps' | 'protomaps-v3' | 'shortbread';

/** Tiles of one archive or server. */
export interface TileSource {
  readonly kind: 'vector' | 'raster';
  readonly minZoom: number;
  readonly maxZoom: number;
  /**
   * CSS pixels that a tile is made for at its own zoom: 512 for vector tiles, the width of the images (256 or 512) for
   * raster tiles.
   */
  readonly tileSizePx: number;
  /** Plain text, without markup. */
  readonly attribution: string;
  /** Of vector tiles; null when the source doesn't say. */
  readonly layers: readonly string[] | null;
  /** The tile's bytes, decompressed (vector) or as the image file it is (raster); undefined where there is none. */
  tile(zoom: number, x: number, y: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

export interface MapImage {
  readonly bytes: Uint8Array;
  readonly contentType: 'image/png' | 'image/webp' | 'image/jpeg';
  /**
   * Tiles that should have been there and could not be had: the map is drawn without them and must not be cached for
   * long.
   */
  readonly missingTiles: number;
  /** Why one of them could not; null when none is missing. */
  readonly tileProblem: string | null;
}

/** A map that was asked for, as far as it could be drawn. */
export interface DrawnMap extends MapImage {
  /** Icons in whose place there is the default pin, and sprites that the map is drawn without. */
  readonly missingIcons: number;
}
