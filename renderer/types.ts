/**
 * Static maps: the types of requests, sources and results.
 *
 * Input: a {@link MapRequest} and sources. Output: an encoded image. The renderer works without the rest of Fenceline.
 * Read `render.ts` from top to bottom. `request/` reads parameters, `view/` has the projection, and `style/` compiles
 * styles. `sources/` read tiles, `tiles/` decodes them, and `basemap/` bakes the default archive. `styles/` has the
 * built-in styles, and `sprites/` the images of styles. `draw/` paints, `labels/` places text and icons, and
 * `overlays/` adds markers, paths and attribution. `glyphs/` and `web/` serve interactive maps.
 *
 * Longitude comes first, except in a request's text. Sizes are CSS pixels unless they say device pixels. Zoom 0 is a
 * world 512 pixels wide.
 */

/** [longitude, latitude] in degrees. */
export type Position = readonly [longitude: number, latitude: number];

/** Red, green, blue (0 to 255) and opacity (0 to 1). */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

/** The formats of maps. */
export type ImageFormat = 'png' | 'webp' | 'jpg';

/** The requested camera, or the area to show. A part that is null follows from the area. */
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
  /** A URL, the name of an uploaded marker among the {@link Uploads}, or null for the default pin. */
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

/** A geofence to draw. */
export type FenceOverlay =
  | { readonly type: 'circle'; readonly center: Position; readonly radiusM: number }
  | { readonly type: 'polygon'; readonly ring: readonly Position[] };

/** One map to draw, checked and complete: every default is filled in. */
export interface MapRequest {
  /** 100 to 2048. */
  readonly width: number;
  readonly height: number;
  /** 1 to 3, fractional: device pixels per CSS pixel. */
  readonly scale: number;
  readonly camera: Camera;
  /**
   * `svc-default-v1`, `svc-light-v1`, `svc-dark-v1`, or the name under which the request's {@link Uploads} are cached.
   */
  readonly style: string;
  /** Two letters, `zh-Hant`, or `native` for the names on signs. */
  readonly language: string;
  readonly format: ImageFormat;
  readonly markers: readonly MarkerGroup[];
  readonly paths: readonly PathOverlay[];
  readonly fences: readonly FenceOverlay[];
}

/** Uploads that a request names. Equal names have equal contents: a change gets another name. */
export interface Uploads {
  /** JSON of the uploaded MapLibre style; null for a built-in style. */
  readonly style: Uint8Array | null;
  /** PNG or SVG files by their names in the request's markers. */
  readonly icons: ReadonlyMap<string, Uint8Array>;
}

/** The two fetched files of a sprite. */
export interface SpriteFile {
  /** Prefix of its image names in the style, before a colon; empty for the default sprite. */
  readonly id: string;
  /** JSON. */
  readonly index: Uint8Array;
  /** PNG. */
  readonly image: Uint8Array;
}

/** The sprites of a style. */
export interface Sprites {
  readonly files: readonly SpriteFile[];
  /** Number of sprites that could not be fetched. */
  readonly missing: number;
}

/** The resolved camera. */
export interface Viewport {
  readonly center: Position;
  readonly zoom: number;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

/** A box in CSS pixels of the image, or in tile units where said. */
export interface PixelBox {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The schema of an archive's layers, detected by its metadata or a tile. */
export type TileSchema = 'fenceline' | 'openmaptiles' | 'protomaps' | 'protomaps-v3' | 'shortbread';

/** A box in degrees. It does not cross the antimeridian. */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

/** Tiles of one archive or server. */
export interface TileSource {
  readonly kind: 'vector' | 'raster';
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Size of a tile at its zoom in CSS pixels: 512 for vector tiles, the image width (256 or 512) for raster tiles. */
  readonly tileSizePx: number;
  /** The area that has tiles; null when unknown. */
  readonly bounds: Bounds | null;
  /** Plain text, without markup. */
  readonly attribution: string;
  /** Layer names of vector tiles; null when unknown. */
  readonly layers: readonly string[] | null;
  /**
   * Returns the tile's bytes, decompressed (vector) or as an image file (raster). Returns undefined where there is no
   * tile.
   */
  tile(zoom: number, x: number, y: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** An encoded map, and what it lacks. */
export interface MapImage {
  readonly bytes: Uint8Array;
  readonly contentType: 'image/png' | 'image/webp' | 'image/jpeg';
  /** Number of tiles that could not be read. The map is drawn without them and must not be cached for long. */
  readonly missingTiles: number;
  /** Why one of them could not be read; null when none is missing. */
  readonly tileProblem: string | null;
  /** Layers of which a tile has more than can be drawn. Their last features are left out there. */
  readonly cutLayers: readonly string[];
}

/** A drawn map, possibly incomplete. */
export interface DrawnMap extends MapImage {
  /** Number of icons replaced by the default pin, and of sprites that could not be used. */
  readonly missingIcons: number;
  /** Packages of fonts that names in view need, and that are not installed. */
  readonly missingFonts: readonly string[];
  /** Why a map in an uploaded style has only its background. */
  readonly emptyView?: string;
  /** How much of the view the archive lacks, when the basemap that would be drawn there has not been baked. */
  readonly lacksBasemap?: 'all' | 'part';
}
