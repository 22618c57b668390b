/**
 * Draws a static map from a view, a compiled style and its sources. Read `render` from top to bottom.
 *
 * A renderer belongs to one thread. Keep it: it caches tiles and paths. Imports every folder of the renderer except
 * `request`, `basemap` and `styles`.
 */

import { BucketStore } from './draw/bucket-store.js';
import { reachIntoView } from './draw/circle.js';
import { type Frame, type LoadedTile, openFrame } from './draw/frame.js';
import { paintLayers } from './draw/paint.js';
import { continueBeyondPoles } from './draw/poles.js';
import { encodeImage } from './encode.js';
import type { SpriteImages } from './sprites/sprite-images.js';
import type { CompiledStyle } from './style/compile.js';
import { TileStore } from './tiles/store.js';
import type { ImageFormat, MapImage, PixelBox, TileSource, Viewport } from './types.js';
import { coverTiles, tileZoom } from './view/projection.js';

/** Overlays of a map: paths, markers, attribution. */
export interface Overlays {
  /** Boxes that labels must not overlap. */
  readonly boxes: readonly PixelBox[];
  /** Draws what lies below the labels, so that names stay readable. */
  paintBelow(frame: Frame): void;
  paintAbove(frame: Frame): void;
}

/** Places and draws the text and icons of a style's symbol layers. */
export type PaintLabels = (frame: Frame, style: CompiledStyle, keepFree: readonly PixelBox[]) => void;

/** A map to draw. */
export interface Scene {
  readonly view: Viewport;
  readonly style: CompiledStyle;
  /** Sources by their names in the style. Layers of other sources are not drawn. */
  readonly sources: ReadonlyMap<string, TileSource>;
  /** Images of the style's sprites. */
  readonly images?: SpriteImages;
  readonly labels: PaintLabels | null;
  readonly overlays: Overlays | null;
  readonly format: ImageFormat;
  /** Called when no source has a tile in view. Returns the scene to draw instead, if there is one. */
  readonly whenEmpty?: () => Promise<Scene | undefined>;
}

export interface RendererLimits {
  /** Cache of decoded tiles. */
  readonly maxTileBytes: number;
  /** Cache of paths, whose memory the drawing engine holds. */
  readonly maxPathBytes: number;
}

export interface Renderer {
  /** Draws a map. Tiles that cannot be read are counted and do not cause a rejection. */
  render(scene: Scene): Promise<MapImage>;
}

export const defaultRendererLimits: RendererLimits = { maxTileBytes: 64 * 2 ** 20, maxPathBytes: 128 * 2 ** 20 };

export function createRenderer(limits: RendererLimits = defaultRendererLimits): Renderer {
  const tiles = new TileStore(limits.maxTileBytes);
  const buckets = new BucketStore(limits.maxPathBytes);
  return {
    async render(scene) {
      const loaded = await loadTiles(scene, tiles);
      const instead = isEmpty(loaded) ? await scene.whenEmpty?.() : undefined;
      if (instead) return this.render(instead);
      const { inView, beside } = divided(loaded, scene.view);
      const frame = openFrame(scene.view, inView, scene.images, beside);
      paintLayers(frame, scene.style, buckets);
      continueBeyondPoles(frame);
      scene.overlays?.paintBelow(frame);
      scene.labels?.(frame, scene.style, scene.overlays?.boxes ?? []);
      scene.overlays?.paintAbove(frame);
      return { ...(await encodeImage(frame.canvas, scene.format)), ...missingOf(loaded) };
    },
  };
}

type TilesBySource = Map<string, readonly LoadedTile[]>;

/** Loads the tiles in view of each source that a visible layer uses, and those whose circles reach into the view. */
async function loadTiles({ view, style, sources }: Scene, tiles: TileStore): Promise<TilesBySource> {
  const visible = new Set(style.layers.filter((layer) => layer.isVisible(view.zoom)).map((layer) => layer.source));
  const loaded = [...sources]
    .filter(([name]) => visible.has(name))
    .map(async ([name, source]) => {
      const marginPx = reachIntoView(style, name, view.zoom);
      return [name, await loadSource(view, source, tiles, marginPx)] as const;
    });
  return new Map(await Promise.all(loaded));
}

/** Separates tiles that the image touches from those beside it. */
function divided(loaded: TilesBySource, view: Viewport): Pick<Frame, 'beside'> & { readonly inView: TilesBySource } {
  const isInView = ({ place: { left, top, sizePx } }: LoadedTile) =>
    left < view.width && top < view.height && left + sizePx > 0 && top + sizePx > 0;
  const only = (wanted: boolean): TilesBySource =>
    new Map([...loaded].map(([name, tiles]) => [name, tiles.filter((tile) => isInView(tile) === wanted)]));
  return { inView: only(true), beside: only(false) };
}

async function loadSource(
  view: Viewport,
  source: TileSource,
  tiles: TileStore,
  marginPx: number,
): Promise<LoadedTile[]> {
  const zoom = tileZoom(view.zoom, source);
  const places = zoom === null ? [] : coverTiles(view, zoom, marginPx);
  return Promise.all(
    places.map(async (place) => ({ place, tile: await tiles.get(source, place.zoom, place.x, place.y) })),
  );
}

/** A tile that cannot be read counts as one. */
const isEmpty = (loaded: TilesBySource): boolean =>
  loaded.size > 0 && [...loaded.values()].flat().every(({ tile }) => tile.kind === 'empty');

function missingOf(loaded: TilesBySource): Pick<MapImage, 'missingTiles' | 'tileProblem'> {
  const failures = [...loaded.values()].flat().flatMap(({ tile }) => (tile.kind === 'failed' ? [tile.error] : []));
  const [first] = failures;
  return { missingTiles: failures.length, tileProblem: failures.length === 0 ? null : messageOf(first) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
