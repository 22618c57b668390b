/**
 * Draws a static map from a view, a compiled style and its sources. Read `render` from top to bottom.
 *
 * A renderer belongs to one thread. Keep it: it caches tiles and paths. Imports every folder of the renderer except
 * `request`, `basemap` and `styles`.
 */

import { BucketStore } from './draw/bucket-store.js';
import { reachIntoView } from './draw/circle.js';
import { deviceArea, type Frame, fillWithPaper, type LoadedTile, openFrame } from './draw/frame.js';
import { paintLayers } from './draw/paint.js';
import { continueBeyondPoles } from './draw/poles.js';
import { encodeImage } from './encode.js';
import { KnownViews } from './known-views.js';
import type { PlacedLabel, PreparedLabels } from './labels/label.js';
import { createNumbering } from './numbering.js';
import { encodeChanges, type Overlays, paintOnGround, paintWhole, redrawOf } from './paint-again.js';
import type { SpriteImages } from './sprites/sprite-images.js';
import type { CompiledStyle } from './style/compile.js';
import { coveredPart } from './tiles/coverage.js';
import { TileStore } from './tiles/store.js';
import type { Bounds, ImageFormat, MapImage, PixelBox, TileSource, Viewport } from './types.js';
import { coverTiles, type PlacedTile, partOf, tileZoom } from './view/projection.js';

/** The same map with the tiles and the style of another source. */
export interface Filling {
  readonly frame: Frame;
  readonly style: CompiledStyle;
}

/** Prepares the text and icons of a style's symbol layers, and then those of the filling. */
export type PrepareLabels = (frame: Frame, style: CompiledStyle, filling?: Filling) => PreparedLabels;

/** A map to draw. */
export interface Scene {
  readonly view: Viewport;
  readonly style: CompiledStyle;
  /** Sources by their names in the style. Layers of other sources are not drawn. */
  readonly sources: ReadonlyMap<string, TileSource>;
  /** Images of the style's sprites. */
  readonly images?: SpriteImages;
  /** Equal views of equal styles have equal labels before they are placed. */
  readonly labels: PrepareLabels | null;
  /** Receives the placed labels, the most important first. */
  readonly onLabels?: (labels: readonly PlacedLabel[]) => void;
  readonly overlays: Overlays | null;
  readonly format: ImageFormat;
  /**
   * Called when the sources lack tiles in view: all of them, or a part. Returns the scene to draw in their places, if
   * there is one. Its overlays replace those of this scene.
   */
  readonly whenLacking?: (lacking: Lacking) => Promise<Scene | undefined>;
}

export type Lacking = 'all' | 'part';

export interface RendererLimits {
  /** Cache of decoded tiles. */
  readonly maxTileBytes: number;
  /** Cache of paths, whose memory the drawing engine holds. */
  readonly maxPathBytes: number;
  /** Cache of the pixels and label candidates of views that are drawn again. */
  readonly maxViewBytes: number;
}

export interface Renderer {
  /** Draws a map. Tiles that cannot be read are counted and do not cause a rejection. */
  render(scene: Scene): Promise<MapImage>;
}

export const defaultRendererLimits: RendererLimits = {
  maxTileBytes: 48 * 2 ** 20,
  maxPathBytes: 64 * 2 ** 20,
  maxViewBytes: 36 * 2 ** 20,
};

/** Creates a renderer that owns its caches, within these limits. It needs no closing; the caller closes the sources. */
export function createRenderer(limits: RendererLimits = defaultRendererLimits): Renderer {
  const tiles = new TileStore(limits.maxTileBytes);
  const buckets = new BucketStore(limits.maxPathBytes);
  const views = new KnownViews(limits.maxViewBytes);
  return {
    async render(scene) {
      const loaded = await loadTiles(scene, tiles);
      const { inView, beside } = divided(loaded, scene.view);
      const { covered, gaps, lacking } = coverageOf(inView, scene);
      const instead = lacking && (await scene.whenLacking?.(lacking));
      if (instead && lacking === 'all') return this.render(instead);
      const filled = instead && (await fillingOf(instead, gaps, tiles));
      const frame = openFrame(scene.view, filled ? covered : inView, scene.images, beside);
      const { surface } = frame;
      const filling = filled && {
        frame: { ...frame, tiles: filled, beside: new Map(), parts: gaps },
        style: instead.style,
      };
      const overlays = instead?.overlays ?? scene.overlays;
      const key = viewKey(scene, loaded, filling);
      const before = key === undefined ? undefined : views.get(key);
      const prepared = before ? before.prepared : scene.labels?.(frame, scene.style, filling);
      const known = before ?? (key === undefined ? undefined : views.add(key, surface, prepared));
      const labels = prepared?.place(overlays?.boxes ?? []) ?? [];
      scene.onLabels?.(labels);
      const again = known && redrawOf(frame, known, labels, overlays);
      let encoding = again && scene.format === 'png' ? encodeChanges(frame, again, labels, overlays) : null;
      if (!encoding) {
        if (again) paintWhole(frame, again, labels, overlays);
        else {
          if (known?.ground) surface.replacePixels().set(known.ground);
          else paintGround(frame, scene.style, filling, gaps);
          if (known) known.ground ??= surface.pixels.slice();
          paintOnGround(frame, labels, overlays);
        }
        encoding = encodeImage(surface.takeBitmap(), scene.format);
      }
      surface.close();
      return { ...(await encoding), ...missingOf([...loaded, ...(filled ?? [])]) };
    },
  };

  function paintGround(
    frame: Frame,
    style: CompiledStyle,
    filling: Filling | undefined,
    gaps: readonly PixelBox[],
  ): void {
    fillWithPaper(frame);
    paintLayers(frame, style, buckets);
    if (filling) paintFilling(filling, gaps, buckets);
    continueBeyondPoles(frame);
  }
}

const numberOf = createNumbering<CompiledStyle>();

/** Returns what the pixels of a map without overlays follow from. Undefined when a tile could not be read. */
function viewKey({ view, style, images }: Scene, loaded: TilesBySource, filling?: Filling): string | undefined {
  const tiles = [...loaded, ...(filling?.frame.tiles ?? [])].map(([name, each]) => [name, each.map(keyOf)] as const);
  if (tiles.some(([, keys]) => keys.includes(undefined))) return undefined;
  const { center, zoom, width, height, scale } = view;
  const drawn = [numberOf(style), images?.key, filling && numberOf(filling.style)];
  return JSON.stringify([center, zoom, width, height, scale, drawn, tiles]);
}

function keyOf({ tile }: LoadedTile): string | undefined {
  if (tile.kind === 'failed') return undefined;
  return tile.kind === 'empty' ? '' : tile.key;
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
  const only = (wanted: boolean): TilesBySource =>
    new Map(
      [...loaded].map(([name, tiles]) => [name, tiles.filter(({ place }) => isSeen(partOf(place), view) === wanted)]),
    );
  return { inView: only(true), beside: only(false) };
}

const isSeen = ({ minX, minY, maxX, maxY }: PixelBox, { width, height }: Viewport): boolean =>
  minX < width && minY < height && maxX > 0 && maxY > 0;

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

interface Coverage {
  /** The tiles, each with the part that its source covers. */
  readonly covered: TilesBySource;
  /** The rest, in CSS pixels of the image. */
  readonly gaps: readonly PixelBox[];
  readonly lacking: Lacking | undefined;
}

/** A tile that cannot be read counts as one that the source has. */
function coverageOf(inView: TilesBySource, { view, sources, whenLacking }: Scene): Coverage {
  if (inView.size > 0 && [...inView.values()].flat().every(({ tile }) => tile.kind === 'empty'))
    return { covered: inView, gaps: [], lacking: 'all' };
  const gaps: PixelBox[] = [];
  const limited = (loaded: LoadedTile, bounds: Bounds | null): LoadedTile => {
    const { place, tile } = loaded;
    if (tile.kind === 'empty') gaps.push(partOf(place));
    if (tile.kind !== 'vector') return loaded;
    const shares = coveredPart(tile.tile, place.zoom, place.x, place.y, bounds);
    if (shares === null) return loaded;
    const { left, top, sizePx } = place;
    const part = {
      minX: left + shares.minX * sizePx,
      minY: top + shares.minY * sizePx,
      maxX: left + shares.maxX * sizePx,
      maxY: top + shares.maxY * sizePx,
    };
    gaps.push(...around(part, partOf(place)));
    return { tile, place: { ...place, part } };
  };
  const covered = whenLacking
    ? [...inView].map(([name, tiles]) => {
        const { bounds = null } = sources.get(name) ?? {};
        return [name, tiles.map((loaded) => limited(loaded, bounds))] as const;
      })
    : inView;
  const seen = gaps.filter((gap) => isSeen(gap, view));
  return { covered: new Map(covered), gaps: seen, lacking: seen.length > 0 ? 'part' : undefined };
}

/** Returns what remains of a box around a part of it. */
function around(part: PixelBox, { minX, minY, maxX, maxY }: PixelBox): PixelBox[] {
  return [
    { minX, minY, maxX, maxY: part.minY },
    { minX, minY: part.maxY, maxX, maxY },
    { minX, minY: part.minY, maxX: part.minX, maxY: part.maxY },
    { minX: part.maxX, minY: part.minY, maxX, maxY: part.maxY },
  ].filter((box) => box.minX < box.maxX && box.minY < box.maxY);
}

/** Loads the tiles of a scene that show something in the gaps, once for each gap, as parts that lie in it. */
async function fillingOf(scene: Scene, gaps: readonly PixelBox[], tiles: TileStore): Promise<TilesBySource> {
  const partsOf = (loaded: readonly LoadedTile[]) =>
    gaps.flatMap((gap) => loaded.flatMap(({ place, tile }) => partIn(gap, place, tile)));
  const loaded = await loadTiles(scene, tiles);
  return new Map([...loaded].map(([name, all]) => [name, partsOf(all)]));
}

function partIn(gap: PixelBox, place: PlacedTile, tile: LoadedTile['tile']): LoadedTile[] {
  const whole = partOf(place);
  const part = {
    minX: Math.max(gap.minX, whole.minX),
    minY: Math.max(gap.minY, whole.minY),
    maxX: Math.min(gap.maxX, whole.maxX),
    maxY: Math.min(gap.maxY, whole.maxY),
  };
  return part.minX < part.maxX && part.minY < part.maxY ? [{ place: { ...place, part }, tile }] : [];
}

function paintFilling({ frame, style }: Filling, gaps: readonly PixelBox[], buckets: BucketStore): void {
  const { context } = frame.surface;
  context.save();
  context.resetTransform();
  context.beginPath();
  for (const gap of gaps) {
    const { minX, minY, maxX, maxY } = deviceArea(frame, gap);
    if (minX < maxX && minY < maxY) context.rect(minX, minY, maxX - minX, maxY - minY);
  }
  context.clip();
  paintLayers(frame, style, buckets);
  context.restore();
}

function missingOf(
  loaded: Iterable<readonly [string, readonly LoadedTile[]]>,
): Pick<MapImage, 'missingTiles' | 'tileProblem'> {
  const failures = [...loaded].flatMap(([, tiles]) =>
    tiles.flatMap(({ tile }) => (tile.kind === 'failed' ? [tile.error] : [])),
  );
  const [first] = failures;
  return { missingTiles: failures.length, tileProblem: failures.length === 0 ? null : messageOf(first) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
