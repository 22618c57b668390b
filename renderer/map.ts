/**
 * Draws static maps on the calling thread. This is the renderer's interface as a library, and what drawing processes
 * run.
 *
 * Input: a {@link MapRequest} with the files of its icons and sprites. Output: an encoded image. Read `render` from top
 * to bottom. Keep a renderer: it caches tiles, paths, styles and icons. Imports every folder of the renderer except
 * `request` and `pool`.
 */
import { join } from 'node:path';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { LRUCache } from 'lru-cache';
import { parameterError, type Validated } from '../schemas/errors.js';
import { openDefaultBasemap } from './basemap/bake.js';
import { isDarkStyle } from './draw/background.js';
import { takeMissingFonts } from './fonts.js';
import type { RasterIcon } from './icons/rasterize.js';
import type { PlacedLabel } from './labels/label.js';
import { paintLabels } from './labels/labels.js';
import { loadIcons } from './overlays/icons.js';
import { attributionPx, createOverlays, fitItems } from './overlays/overlays.js';
import { createRenderer, defaultRendererLimits, type RendererLimits } from './render.js';
import type { FetchBytes } from './sources/fetch.js';
import { type ArchiveHints, openArchive } from './sources/open.js';
import { detectSchema } from './sources/schema.js';
import { checkSprites } from './sprites/check.js';
import { SpriteStore } from './sprites/sprite-store.js';
import { type CompiledStyle, compileStyle } from './style/compile.js';
import type { Unsupported } from './style/unsupported.js';
import { builtInStyle } from './styles/built-in.js';
import { checkStyle, onArchive, onArchiveOfWeb } from './styles/custom.js';
import { builtInImages } from './styles/images.js';
import { localizeStyle } from './styles/language.js';
import { type BuiltInStyle, isBuiltInStyle } from './styles/names.js';
import { rasterStyle } from './styles/raster.js';
import type { DrawnMap, MapRequest, Sprites, TileSource, Uploads } from './types.js';
import { fitView } from './view/fit.js';
import { webFile } from './web/files.js';
import type { Tileset, WebFileRequest, WebFileResult } from './web/requests.js';
import { completeStyle, spritePath } from './web/style.js';

export interface MapRendererOptions {
  /**
   * Argument of {@link openArchive}: path or URL of an archive or of TileJSON, or a URL template of tiles. Null for the
   * default basemap.
   */
  readonly archive: string | null;
  readonly archiveHints?: ArchiveHints;
  /** Folder for the default basemap. */
  readonly cacheFolder: string;
  /** Fetches an archive by URL. */
  readonly fetchBytes?: FetchBytes;
  readonly limits?: RendererLimits;
  /** Receives the placed labels of each map, the most important first. */
  readonly onLabels?: (labels: readonly PlacedLabel[]) => void;
}

/** Results of {@link rasterizeIcon} at the request's scale, by the names that the request uses. */
export type RequestIcons = ReadonlyMap<string, RasterIcon>;

export interface MapRenderer {
  /**
   * Draws a map. A marker without its icon gets the default pin. `style` is the JSON of an uploaded style that passed
   * `checkStyle`, and `sprites` are its sprites. Rejects with ApiError `invalid_parameter` for an unknown style.
   */
  render(request: MapRequest, icons?: RequestIcons, style?: Uploads['style'], sprites?: Sprites): Promise<DrawnMap>;
  /** Returns what is not drawn of a style with this archive, or what is wrong with it. The style is JSON. */
  checkStyle(json: Uint8Array): Validated<Unsupported[]>;
  /** Returns problems of a style's sprites, and images that it names but that are missing. The style is JSON. */
  checkSprites(json: Uint8Array, sprites: Sprites): Unsupported[];
  /**
   * Returns a style for interactive maps, with paths of this installation in place of addresses. `style` is the JSON of
   * an uploaded style. Rejects like `render`.
   */
  webStyle(name: string, language: string, style?: Uploads['style']): StyleSpecification;
  /** Returns a file of interactive maps. */
  webFile(request: WebFileRequest): Promise<WebFileResult>;
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** Number of cached compiled styles. Each is for one language. */
const keptStyles = 32;
/** Maximum bytes of JSON of cached uploaded styles. A compiled style takes several times as much. */
const maxKeptStyleBytes = 4 * 2 ** 20;

/**
 * Creates a renderer. Rejects when the archive cannot be read, or when no built-in style supports its tiles. The first
 * call on a machine bakes the basemap, which takes some seconds.
 */
export async function createMapRenderer(options: MapRendererOptions): Promise<MapRenderer> {
  const source = await openSource(options);
  const tileset: Tileset = options.archive === null ? 'basemap' : 'archive';
  const basemap = createLazyBasemap(options.cacheFolder);
  const styleFor = createStyles(source);
  const renderer = createRenderer(options.limits ?? defaultRendererLimits);
  const spriteStore = new SpriteStore();
  return {
    async render(request, given = new Map(), uploadedStyle = null, sprites = noSprites) {
      const style = styleFor.image(request.style, request.language, uploadedStyle);
      const { icons, missing } = await loadIcons(request.markers, given);
      const drawn = isBuiltInStyle(request.style) && !uploadedStyle;
      const { images, missing: missingSprites } = drawn
        ? { images: builtInImages(request.style, request.scale), missing: 0 }
        : await spriteStore.decode(sprites);
      const view = fitView(
        request.camera,
        fitItems(request, icons),
        request,
        attributionPx(request, source.attribution),
      );
      const overlays = createOverlays(view, request, icons, source.attribution, isDarkStyle(style, view.zoom));
      const sources = new Map([['map', source]]);
      const labels = paintLabels(request.language, options.onLabels);
      const image = await renderer.render({ view, style, sources, images, labels, overlays, format: request.format });
      return { ...image, missingIcons: missing + missingSprites, missingFonts: takeMissingFonts() };
    },
    checkStyle: (json) => checkStyle(parseStyle(json), source),
    checkSprites: (json, sprites) => checkSprites(parseStyle(json), sprites),
    webStyle: (name, language, uploadedStyle = null) =>
      completeStyle(styleFor.web(name, language, uploadedStyle), tileset, source),
    webFile: (request) => webFile(request, (asked) => (asked === tileset ? Promise.resolve(source) : basemap.open())),
    async close() {
      await Promise.all([source.close(), basemap.close()]);
    },
  };
}

/** Opens the built-in basemap when it is first needed beside an archive. */
function createLazyBasemap(cacheFolder: string): { open(): Promise<TileSource>; close(): Promise<void> } {
  let opening: Promise<TileSource> | undefined;
  return {
    open() {
      opening ??= openDefaultBasemap(join(cacheFolder, 'basemap')).catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close() {
      await opening?.then((source) => source.close());
    },
  };
}

function openSource({ archive, archiveHints, cacheFolder, fetchBytes }: MapRendererOptions): Promise<TileSource> {
  return archive === null
    ? openDefaultBasemap(join(cacheFolder, 'basemap'))
    : openArchive(archive, fetchBytes, archiveHints);
}

/** Parses JSON that was validated before. */
const parseStyle = (json: Uint8Array): StyleSpecification => JSON.parse(Buffer.from(json).toString());

type StyleArguments = readonly [name: string, language: string, uploaded: Uploads['style']];

interface Styles {
  image(...style: StyleArguments): CompiledStyle;
  /** Without addresses. */
  web(...style: StyleArguments): StyleSpecification;
}

/** Returns a function that compiles styles for this source. Throws for a source of unknown schema. */
function createStyles(source: TileSource): Styles {
  const schema = detectSchema(source);
  if (source.kind === 'vector' && schema === null) {
    throw new TypeError(
      `The archive's layers are of no known schema: ${source.layers?.join(', ') ?? 'they are not named'}`,
    );
  }
  const kept = new LRUCache<string, CompiledStyle>({ max: keptStyles, maxSize: maxKeptStyleBytes });
  return {
    image(name, language, uploaded) {
      const key = `${name} ${language}`;
      const known = kept.get(key);
      if (known) return known;
      const style = compileStyle(localizeStyle(uploaded ? onArchive(parseStyle(uploaded)) : builtIn(name), language));
      kept.set(key, style, { size: uploaded?.length ?? 1 });
      return style;
    },
    web: (name, language, uploaded) =>
      localizeStyle(uploaded ? onArchiveOfWeb(parseStyle(uploaded)) : withSprite(name), language),
  };

  function withSprite(name: string): StyleSpecification {
    const style = builtIn(name);
    return source.kind === 'vector' ? { ...style, sprite: spritePath(name as BuiltInStyle) } : style;
  }

  function builtIn(name: string): StyleSpecification {
    if (!isBuiltInStyle(name)) throw parameterError({ param: 'style', rule: `there is no style "${name}"` });
    return schema ? builtInStyle(name, schema) : rasterStyle(name);
  }
}
