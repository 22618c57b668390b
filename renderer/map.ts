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
import { ApiError, parameterError, type Validated } from '../schemas/errors.js';
import { bakeBasemap, basemapDescription, openDefaultBasemap, prepareDefaultBasemap } from './basemap/bake.js';
import { findDefaultBasemap } from './basemap/recipe.js';
import { isDarkStyle } from './draw/background.js';
import { takeMissingFonts } from './fonts.js';
import type { RasterIcon } from './icons/rasterize.js';
import type { PlacedLabel } from './labels/label.js';
import { preparedLabels } from './labels/labels.js';
import { loadIcons } from './overlays/icons.js';
import { attributionPx, createOverlays, fitItems } from './overlays/overlays.js';
import { createRenderer, defaultRendererLimits, type Lacking, type RendererLimits, type Scene } from './render.js';
import type { FetchBytes } from './sources/fetch.js';
import { type ArchiveHints, openArchive } from './sources/open.js';
import { openPmtiles } from './sources/pmtiles.js';
import { detectSchema } from './sources/schema.js';
import { checkSprites } from './sprites/check.js';
import { SpriteStore } from './sprites/sprite-store.js';
import { type CompiledStyle, compileStyle } from './style/compile.js';
import { placementHintsOf } from './style/placement-hints.js';
import type { Unsupported } from './style/unsupported.js';
import { builtInStyle } from './styles/built-in.js';
import { checkStyle, onArchive, onArchiveOfWeb } from './styles/custom.js';
import { builtInImages } from './styles/images.js';
import { localizeStyle } from './styles/language.js';
import { type BuiltInStyle, isBuiltInStyle } from './styles/names.js';
import { rasterStyle } from './styles/raster.js';
import { isSpokenIn } from './styles/spoken.js';
import type { DrawnMap, MapRequest, Sprites, TileSchema, TileSource, Uploads, Viewport } from './types.js';
import { type FitItem, fitView, streetZoom } from './view/fit.js';
import { isIn, tileZoom } from './view/projection.js';
import { besideArchive } from './web/beside.js';
import { webFile } from './web/files.js';
import type { Tileset, WebFileRequest, WebFileResult } from './web/requests.js';
import { completeStyle, isPartOfWorld, sourceOf, spritePath } from './web/style.js';

/** Where a renderer reads its maps from, and its limits. */
export interface MapRendererOptions {
  /**
   * Argument of {@link openArchive}: path or URL of an archive or of TileJSON, or a URL template of tiles. Null for the
   * default basemap.
   */
  readonly archive: string | null;
  readonly archiveHints?: ArchiveHints;
  /** Folder for the default basemap. */
  readonly cacheFolder: string;
  /** Whether the basemap is baked when a map beside the archive needs it. Default: yes. */
  readonly mayBake?: boolean;
  /** Receives the path of the basemap before it is baked, which takes some seconds. */
  readonly onBaking?: (path: string) => void;
  /** Fetches an archive by URL. */
  readonly fetchBytes?: FetchBytes;
  readonly limits?: RendererLimits;
  /** Receives the placed labels of each map, the most important first. */
  readonly onLabels?: (labels: readonly PlacedLabel[]) => void;
}

/** Results of {@link rasterizeIcon} at the request's scale, by the names that the request uses. */
export type RequestIcons = ReadonlyMap<string, RasterIcon>;

/** What was found of the source. */
export interface FoundSource
  extends Pick<TileSource, 'kind' | 'minZoom' | 'maxZoom' | 'bounds' | 'layers' | 'attribution'> {
  /** Null for raster tiles, and when the built-in styles know none with these layers. */
  readonly schema: TileSchema | null;
}

/** A renderer over an open archive, or over the basemap alone. Its owner closes it. */
export interface MapRenderer {
  readonly found: FoundSource;
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

/** Zoom of a single place without streets: towns around it are in view. */
const townZoom = 8;

/** Returns the zoom of a map of one place: where the source has no streets, the basemap is drawn, which has none. */
function zoomOfOnePlace(tileset: Tileset, { bounds }: TileSource, [item]: readonly FitItem[]): number {
  if (tileset === 'basemap') return townZoom;
  const place = item?.positions[0];
  return bounds === null || place === undefined || isIn(bounds, place) ? streetZoom : townZoom;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** Number of cached compiled styles. Each is for one language. */
const keptStyles = 32;
/** Maximum bytes of JSON of cached uploaded styles. A compiled style takes several times as much. */
const maxKeptStyleBytes = 4 * 2 ** 20;

/** A source and the styles for it. */
interface Ground {
  readonly source: TileSource;
  readonly styles: Styles;
}

/**
 * Creates a renderer. Rejects when the archive cannot be read. The first call on a machine bakes the basemap, which
 * takes some seconds, unless there is an archive.
 */
export async function createMapRenderer(options: MapRendererOptions): Promise<MapRenderer> {
  const source = await openSource(options);
  const tileset: Tileset = options.archive === null ? 'basemap' : 'archive';
  const main: Ground = { source, styles: createStyles(source) };
  const basemap = createLazyBasemap(options);
  const renderer = createRenderer(options.limits ?? defaultRendererLimits);
  const spriteStore = new SpriteStore();

  return {
    found: { ...describedSource(source), schema: detectSchema(source) },
    async render(request, given = new Map(), uploadedStyle = null, sprites = noSprites) {
      if (!uploadedStyle) checkBuiltIn(request.style);
      const { icons, missing } = await loadIcons(request.markers, given);
      const { images, missing: missingSprites } = uploadedStyle
        ? await spriteStore.decode(sprites)
        : { images: builtInImages(request.style as BuiltInStyle, request.scale), missing: 0 };
      const items = fitItems(request, icons);
      const view = fitView(
        request.camera,
        items,
        request,
        attributionPx(request, source.attribution),
        zoomOfOnePlace(tileset, source, items),
      );
      const sceneOf = (ground: Ground, attribution = ground.source.attribution): Scene => {
        const isSpoken = isSpokenIn(request.language, view);
        const style = ground.styles.image(request.style, request.language, uploadedStyle, isSpoken);
        return {
          view,
          style,
          images,
          format: request.format,
          sources: new Map([['map', ground.source]]),
          labels: (frame, labelled, filling) => preparedLabels(frame, labelled, request.language, filling),
          onLabels(labels) {
            options.onLabels?.(labels);
            // Taken here, because another map may be drawn while this one is encoded.
            missingFonts = takeMissingFonts();
          },
          overlays: createOverlays(view, request, icons, attribution, isDarkStyle(style, view.zoom)),
        };
      };
      let missingFonts: readonly string[] = [];
      let lacking: Pick<DrawnMap, 'emptyView' | 'lacksBasemap'> = {};
      /** Uploaded styles are made for the archive only. */
      const whenLacking = async (part: Lacking): Promise<Scene | undefined> => {
        if (uploadedStyle) {
          if (part === 'all') lacking = { emptyView: emptyViewOf(view, source) };
          return undefined;
        }
        const ground = await basemap.ground();
        if (!ground) lacking = { lacksBasemap: part };
        return ground && sceneOf(ground, part === 'all' ? undefined : joined(source, ground.source));
      };
      const image = await renderer.render({ ...sceneOf(main), ...(tileset === 'archive' && { whenLacking }) });
      return { ...image, ...lacking, missingIcons: missing + missingSprites, missingFonts };
    },
    checkStyle: (json) => checkStyle(parseStyle(json), source),
    checkSprites: (json, sprites) => checkSprites(parseStyle(json), sprites),
    webStyle(name, language, uploadedStyle = null) {
      if (!uploadedStyle) checkBuiltIn(name);
      const style = completeStyle(main.styles.web(name, language, uploadedStyle), tileset, source);
      if (uploadedStyle || tileset === 'basemap' || !isPartOfWorld(source.bounds)) return style;
      const below = localizeStyle(builtInStyle(name as BuiltInStyle, 'fenceline', true), language);
      const names = sourceOf('beyond', { ...basemapDescription, maxZoom: source.maxZoom, attribution: '' });
      return besideArchive(style, below, source.kind, { basemap: sourceOf('basemap', basemapDescription), names });
    },
    webFile: (request) => webFile(request, (asked) => (asked === tileset ? Promise.resolve(source) : basemap.source())),
    async close() {
      await Promise.all([source.close(), basemap.close()]);
    },
  };
}

/** Returns the attribution of a map from both sources. */
const joined = (...sources: readonly TileSource[]): string =>
  sources.flatMap(({ attribution }) => (attribution === '' ? [] : [attribution])).join(' · ');

const describedSource = ({ kind, minZoom, maxZoom, bounds, layers, attribution }: TileSource) => ({
  kind,
  minZoom,
  maxZoom,
  bounds,
  layers,
  attribution,
});

function checkBuiltIn(name: string): void {
  if (!isBuiltInStyle(name)) throw parameterError({ param: 'style', rule: `there is no style "${name}"` });
}

/** Returns why the archive has no tiles for a view. Few different texts, because each is reported once. */
function emptyViewOf(view: Viewport, source: TileSource): string {
  return tileZoom(view.zoom, source) === null
    ? `the archive has no tiles below zoom ${source.minZoom}`
    : 'the archive has no tiles in the area';
}

interface LazyBasemap {
  /** Undefined: it has not been baked, and this process may not. */
  ground(): Promise<Ground | undefined>;
  /** Rejects where `ground` is undefined. */
  source(): Promise<TileSource>;
  close(): Promise<void>;
}

/** Opens the built-in basemap when it is first needed beside an archive. */
function createLazyBasemap(options: MapRendererOptions): LazyBasemap {
  const { cacheFolder, mayBake = true } = options;
  const folder = join(cacheFolder, 'basemap');
  let opening: Promise<Ground | undefined> | undefined;

  async function open(): Promise<Ground | undefined> {
    const path = mayBake
      ? await prepareDefaultBasemap(folder, announcedBake(options))
      : await findDefaultBasemap(folder);
    if (path === undefined) return undefined;
    const source = await openPmtiles(path);
    return { source, styles: createStyles(source, true) };
  }

  async function ground(): Promise<Ground | undefined> {
    opening ??= open();
    const found = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    if (!found) opening = undefined;
    return found;
  }

  return {
    ground,
    async source() {
      const found = await ground();
      if (!found) throw new Error('the basemap has not been baked');
      return found.source;
    },
    async close() {
      await opening?.then((found) => found?.source.close());
    },
  };
}

/** Returns the baking of the basemap, which is reported before it begins. */
const announcedBake =
  ({ onBaking }: MapRendererOptions) =>
  (path: string): Promise<void> => {
    onBaking?.(path);
    return bakeBasemap(path);
  };

function openSource(options: MapRendererOptions): Promise<TileSource> {
  const { archive, archiveHints, cacheFolder, fetchBytes } = options;
  return archive === null
    ? openDefaultBasemap(join(cacheFolder, 'basemap'), announcedBake(options))
    : openArchive(archive, fetchBytes, archiveHints);
}

/** Parses JSON that was validated before. */
const parseStyle = (json: Uint8Array): StyleSpecification => JSON.parse(Buffer.from(json).toString());

type StyleArguments = readonly [name: string, language: string, uploaded: Uploads['style']];

interface Styles {
  /** `isSpoken` tells whether local names are in the language. */
  image(...style: readonly [...StyleArguments, isSpoken: boolean]): CompiledStyle;
  /** Without addresses. */
  web(...style: StyleArguments): StyleSpecification;
}

/**
 * Compiles styles for this source, alone or beside an archive. A built-in style throws ApiError `unavailable` for a
 * source of unknown schema.
 */
function createStyles(source: TileSource, isBesideArchive = false): Styles {
  const schema = detectSchema(source);
  const kept = new LRUCache<string, CompiledStyle>({ max: keptStyles, maxSize: maxKeptStyleBytes });
  return {
    image(name, language, uploaded, isSpoken) {
      const key = `${name} ${language} ${isSpoken}`;
      const known = kept.get(key);
      if (known) return known;
      const given = uploaded ? onArchive(parseStyle(uploaded)) : builtIn(name);
      const style = compileStyle(localizeStyle(given, language, isSpoken));
      kept.set(key, style, { size: uploaded?.length ?? 1 });
      return style;
    },
    web: (name, language, uploaded) =>
      localizeStyle(uploaded ? onArchiveOfWeb(parseStyle(uploaded)) : withSprite(name), language),
  };

  function withSprite(name: string): StyleSpecification {
    const style = withoutAreas(builtIn(name));
    return source.kind === 'vector' ? { ...style, sprite: spritePath(name as BuiltInStyle) } : style;
  }

  function builtIn(name: string): StyleSpecification {
    if (source.kind === 'raster') return rasterStyle(name);
    if (schema) return builtInStyle(name as BuiltInStyle, schema, isBesideArchive);
    throw new ApiError('unavailable', unknownSchema(source));
  }
}

/** Browsers cannot tell how large the area around a point is, and would show all points. */
const withoutAreas = (style: StyleSpecification): StyleSpecification => ({
  ...style,
  layers: style.layers.filter(({ metadata }) => placementHintsOf(metadata).areaAround === undefined),
});

/** Layers that a message names. */
const maxNamedLayers = 20;

function unknownSchema({ layers }: TileSource): string {
  if (!layers || layers.length === 0) return 'the archive has no tiles that show its layers';
  const named = layers.slice(0, maxNamedLayers).join(', ') + (layers.length > maxNamedLayers ? ', …' : '');
  return `the built-in styles know no schema with the layers of the archive: ${named}. Upload a style for them`;
}
