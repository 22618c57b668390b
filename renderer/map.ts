/**
 * Static maps by request, on the calling thread: what this room offers to those who use it as a library, and what a
 * drawing process does.
 *
 * Flows in: a {@link MapRequest}, the files of its icons and of its style's sprites. Flows out: an encoded image. Read
 * `render` from top to bottom. A renderer is kept: it remembers tiles, paths, styles and icons. Imports every folder of
 * this room but `request` and `pool`.
 */
import { join } from 'node:path';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { LRUCache } from 'lru-cache';
import { parameterError, type Validated } from '../schemas/errors.js';
import { openDefaultBasemap } from './basemap/bake.js';
import { isDarkStyle } from './draw/background.js';
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
import { checkStyle, onArchive } from './styles/custom.js';
import { localizeStyle } from './styles/language.js';
import { isBuiltInStyle } from './styles/names.js';
import { rasterStyle } from './styles/raster.js';
import type { DrawnMap, MapRequest, Sprites, TileSource, Uploads } from './types.js';
import { fitView } from './view/fit.js';

export interface MapRendererOptions {
  /**
   * As {@link openArchive} takes it: path or URL of an archive, of TileJSON, or a template of tiles' URLs; null for the
   * default basemap.
   */
  readonly archive: string | null;
  readonly archiveHints?: ArchiveHints;
  /** Where the default basemap is kept once it is baked. */
  readonly cacheFolder: string;
  /** Fetches an archive by URL. */
  readonly fetchBytes?: FetchBytes;
  readonly limits?: RendererLimits;
  /** Receives the placed labels of each map, the most important first. */
  readonly onLabels?: (labels: readonly PlacedLabel[]) => void;
}

/** What {@link rasterizeIcon} made for the request's scale, by what the request calls them. */
export type RequestIcons = ReadonlyMap<string, RasterIcon>;

export interface MapRenderer {
  /**
   * A marker whose icon isn't given gets the default pin. `style` is the JSON of the request's style where it isn't
   * built in, and has passed `checkStyle`, `sprites` are those that it names. Rejects with ApiError `invalid_parameter`
   * for a style that isn't there.
   */
  render(request: MapRequest, icons?: RequestIcons, style?: Uploads['style'], sprites?: Sprites): Promise<DrawnMap>;
  /** What of a style, in JSON, isn't drawn from this archive, or what is wrong with it. */
  checkStyle(json: Uint8Array): Validated<Unsupported[]>;
  /** What of the sprites of a style, in JSON, isn't drawn, and which images it names in vain. */
  checkSprites(json: Uint8Array, sprites: Sprites): Unsupported[];
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** Compiled ones, each for one language. */
const keptStyles = 32;
/** Of the JSON of those that are uploaded; compiled they take a multiple. */
const maxKeptStyleBytes = 4 * 2 ** 20;

/**
 * Rejects when the archive can't be read or has tiles that no built-in style knows. The first one of a machine bakes
 * the basemap, some seconds.
 */
export async function createMapRenderer(options: MapRendererOptions): Promise<MapRenderer> {
  const source = await openSource(options);
  const styleFor = createStyles(source);
  const renderer = createRenderer(options.limits ?? defaultRendererLimits);
  const spriteStore = new SpriteStore();
  return {
    async render(request, given = new Map(), uploadedStyle = null, sprites = noSprites) {
      const style = styleFor(request.style, request.language, uploadedStyle);
      const { icons, missing } = await loadIcons(request.markers, given);
      const { images, missing: missingSprites } = await spriteStore.decode(sprites);
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
      return { ...image, missingIcons: missing + missingSprites };
    },
    checkStyle: (json) => checkStyle(parseStyle(json), source),
    checkSprites: (json, sprites) => checkSprites(parseStyle(json), sprites),
    close: () => source.close(),
  };
}

function openSource({ archive, archiveHints, cacheFolder, fetchBytes }: MapRendererOptions): Promise<TileSource> {
  return archive === null
    ? openDefaultBasemap(join(cacheFolder, 'basemap'))
    : openArchive(archive, fetchBytes, archiveHints);
}

/** JSON in UTF-8, as it was written by whoever parsed it before. */
const parseStyle = (json: Uint8Array): StyleSpecification => JSON.parse(Buffer.from(json).toString());

type StyleFor = (name: string, language: string, uploaded: Uploads['style']) => CompiledStyle;

/** Styles as this source is drawn with them. Throws for a source that no built-in one knows. */
function createStyles(source: TileSource): StyleFor {
  const schema = detectSchema(source);
  if (source.kind === 'vector' && schema === null) {
    throw new TypeError(
      `The archive's layers are of no known schema: ${source.layers?.join(', ') ?? 'they are not named'}`,
    );
  }
  const kept = new LRUCache<string, CompiledStyle>({ max: keptStyles, maxSize: maxKeptStyleBytes });
  return (name, language, uploaded) => {
    const key = `${name} ${language}`;
    const known = kept.get(key);
    if (known) return known;
    const style = compileStyle(localizeStyle(uploaded ? onArchive(parseStyle(uploaded)) : ours(name), language));
    kept.set(key, style, { size: uploaded?.length ?? 1 });
    return style;
  };

  function ours(name: string): StyleSpecification {
    if (!isBuiltInStyle(name)) throw parameterError({ param: 'style', rule: `there is no style "${name}"` });
    return schema ? builtInStyle(name, schema) : rasterStyle(name);
  }
}
