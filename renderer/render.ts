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
import { DrawingWork } from './draw/work.js';
import { type Encoded, encodeImage } from './encode.js';
import { type KnownView, KnownViews } from './known-views.js';
import type { PlacedLabel, PreparedLabels } from './labels/label.js';
import { createNumbering } from './numbering.js';
import { encodeChanges, type Overlays, paintOnGround, paintWhole, redrawOf } from './paint-again.js';
import type { SpriteImages } from './sprites/sprite-images.js';
import type { CompiledStyle } from './style/compile.js';
import { coveredPart } from './tiles/coverage.js';
import { TileLoader } from './tiles/load.js';
import { TileStore } from './tiles/store.js';
import type { Bounds, ImageFormat, MapImage, PixelBox, TileSource, Viewport } from './types.js';
import { coverTiles, type PlacedTile, partOf, tileZoom } from './view/projection.js';

/** The same map with the tiles and the style of another source. */
export interface Filling {
  readonly frame: Frame;
  readonly style: CompiledStyle;
}

/** Prepares the text and icons of a style's symbol layers, and then those of the filling. */
type PrepareLabels = (frame: Frame, style: CompiledStyle, filling?: Filling) => PreparedLabels;

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

/** Whether the basemap is missing for all of a map, or for the part beside the archive. */
export type Lacking = 'all' | 'part';

/** Bounds of one renderer's memory and work. */
export interface RendererLimits {
  /** Cache of decoded tiles. */
  readonly maxTileBytes: number;
  /** Decoded tiles of one map. */
  readonly maxMapTileBytes: number;
  /** What the layers of a style draw on one map, in vertices. */
  readonly maxMapVertices: number;
  /** Cache of paths, whose memory the drawing engine holds. */
  readonly maxPathBytes: number;
  /** Cache of the pixels and label candidates of views that are drawn again. */
  readonly maxViewBytes: number;
}

interface Renderer {
  /**
   * Draws a map. Tiles that cannot be read are counted and do not cause a rejection. Rejects with ApiError
   * `map_too_large` when the tiles of the map exceed `maxMapTileBytes`, or its layers `maxMapVertices`.
   */
  render(scene: Scene): Promise<MapImage>;
}

/** The limits of a drawing process. */
export const defaultRendererLimits: RendererLimits = {
  maxTileBytes: 48 * 2 ** 20,
  maxMapTileBytes: 512 * 2 ** 20,
  maxMapVertices: 10_000_000,
  maxPathBytes: 64 * 2 ** 20,
  maxViewBytes: 36 * 2 ** 20,
};

/** Creates a renderer that owns its caches, within these limits. It needs no closing; the caller closes the sources. */
export function createRenderer(limits: RendererLimits = defaultRendererLimits): Renderer {
  const tiles = new TileStore(limits.maxTileBytes);
  const buckets = new BucketStore(limits.maxPathBytes);
  const views = new KnownViews(limits.maxViewBytes);

  async function render(scene: Scene): Promise<MapImage> {
    const ground = await loadGround(scene, new TileLoader(tiles, limits.maxMapTileBytes));
    if (ground.kind === 'elsewhere') return render(ground.scene);
    const drawing = openDrawing(scene, ground, new DrawingWork(limits.maxMapVertices));
    return { ...(await drawAll(drawing)), ...missingOf(ground) };
  }

  function drawAll(drawing: Drawing): Promise<Encoded> {
    try {
      const { prepared, known } = recall(drawing);
      const labels = prepared?.place(drawing.overlays?.boxes ?? []) ?? [];
      drawing.scene.onLabels?.(labels);
      return draw(drawing, labels, known);
    } finally {
      drawing.frame.surface.close();
    }
  }

  function recall({ scene, frame, filling, viewKey }: Drawing): Recalled {
    const before = viewKey === undefined ? undefined : views.get(viewKey);
    if (before) return { prepared: before.prepared, known: before };
    const prepared = scene.labels?.(frame, scene.style, filling);
    return { prepared, known: viewKey === undefined ? undefined : views.add(viewKey, frame.surface, prepared) };
  }

  /** Draws a known view only where it differs, and other views from the ground up. */
  function draw(drawing: Drawing, labels: readonly PlacedLabel[], known: KnownView | undefined): Promise<Encoded> {
    const { scene, frame, overlays } = drawing;
    const redraw = known && redrawOf(frame, known, labels, overlays);
    const changes = redraw && scene.format === 'png' ? encodeChanges(frame, redraw, labels, overlays) : null;
    if (changes !== null) return changes;
    if (redraw) paintWhole(frame, redraw, labels, overlays);
    else {
      layGround(drawing, known);
      paintOnGround(frame, labels, overlays);
    }
    return encodeImage(frame.surface.takeBitmap(), scene.format);
  }

  /** Takes the kept ground of a known view, or paints it, and keeps it if the view is known. */
  function layGround(drawing: Drawing, known: KnownView | undefined): void {
    const { surface } = drawing.frame;
    if (known?.ground) surface.replacePixels().set(known.ground);
    else paintGround(drawing);
    if (known) known.ground ??= surface.pixels.slice();
  }

  function paintGround({ scene, frame, filling, gaps }: Drawing): void {
    fillWithPaper(frame);
    paintLayers(frame, scene.style, buckets);
    if (filling) paintFilling(filling, gaps, buckets);
    continueBeyondPoles(frame);
  }

  return { render };
}

type TilesBySource = Map<string, readonly LoadedTile[]>;

/** The loaded tiles of a map. */
interface Ground {
  readonly kind: 'ground';
  readonly loaded: TilesBySource;
  /** The tiles that the image touches, each with the part to draw. */
  readonly inView: TilesBySource;
  readonly beside: Frame['beside'];
  /** The scene that fills the gaps, and its tiles. */
  readonly filling: { readonly scene: Scene; readonly tiles: TilesBySource } | undefined;
  readonly gaps: readonly PixelBox[];
}

/** The sources have nothing in view, and this scene is drawn instead. */
interface Elsewhere {
  readonly kind: 'elsewhere';
  readonly scene: Scene;
}

/** Loads the tiles of a scene, and asks for another scene where its sources have none. */
async function loadGround(scene: Scene, tiles: TileLoader): Promise<Ground | Elsewhere> {
  const loaded = await loadTiles(scene, tiles);
  const { inView, beside } = divided(loaded, scene.view);
  const { covered, gaps, lacking } = coverageOf(inView, scene);
  const instead = lacking && (await scene.whenLacking?.(lacking));
  if (!instead) return { kind: 'ground', loaded, inView, beside, filling: undefined, gaps };
  if (lacking === 'all') return { kind: 'elsewhere', scene: instead };
  const filling = { scene: instead, tiles: await fillingOf(instead, gaps, tiles) };
  return { kind: 'ground', loaded, inView: covered, beside, filling, gaps };
}

/** What is known of the view of a map. */
interface Recalled {
  /** The candidates of labels, kept ones if the view is known. Undefined for maps without labels. */
  readonly prepared: PreparedLabels | undefined;
  /** Where the pixels of the view are kept, or will be. */
  readonly known: KnownView | undefined;
}

/** A map while it is drawn. */
interface Drawing {
  readonly scene: Scene;
  readonly frame: Frame;
  readonly filling: Filling | undefined;
  readonly gaps: readonly PixelBox[];
  readonly overlays: Overlays | null;
  /** Equal for maps whose pixels and candidates are equal before overlays. Undefined when a tile could not be read. */
  readonly viewKey: string | undefined;
}

function openDrawing(
  scene: Scene,
  { loaded, inView, beside, filling: fill, gaps }: Ground,
  work: DrawingWork,
): Drawing {
  const frame = openFrame(scene.view, inView, scene.images, beside, work);
  const filling = fill && {
    frame: { ...frame, tiles: fill.tiles, beside: new Map(), parts: gaps },
    style: fill.scene.style,
  };
  const overlays = fill?.scene.overlays ?? scene.overlays;
  return { scene, frame, filling, gaps, overlays, viewKey: viewKeyOf(scene, loaded, filling) };
}

const numberOf = createNumbering<CompiledStyle>();

/** Returns what the pixels of a map without overlays follow from. Undefined when a tile could not be read. */
function viewKeyOf({ view, style, images }: Scene, loaded: TilesBySource, filling?: Filling): string | undefined {
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

/** Loads the tiles in view of each source that a visible layer uses, and those whose circles reach into the view. */
async function loadTiles({ view, style, sources }: Scene, tiles: TileLoader): Promise<TilesBySource> {
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
  tiles: TileLoader,
  marginPx: number,
): Promise<LoadedTile[]> {
  const zoom = tileZoom(view.zoom, source);
  const places = zoom === null ? [] : coverTiles(view, zoom, marginPx);
  const loaded = await tiles.load(source, places);
  return places.map((place, i) => ({ place, tile: loaded[i]! }));
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
async function fillingOf(scene: Scene, gaps: readonly PixelBox[], tiles: TileLoader): Promise<TilesBySource> {
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

function missingOf({ loaded, filling }: Ground): Pick<MapImage, 'missingTiles' | 'tileProblem' | 'cutLayers'> {
  const tiles = [...loaded.values(), ...(filling?.tiles.values() ?? [])].flat().map(({ tile }) => tile);
  const failures = tiles.flatMap((tile) => (tile.kind === 'failed' ? [tile.error] : []));
  const cutLayers = new Set(tiles.flatMap((tile) => (tile.kind === 'vector' ? tile.tile.cutLayers : [])));
  const tileProblem = failures.length === 0 ? null : messageOf(failures[0]);
  return { missingTiles: failures.length, tileProblem, cutLayers: [...cutLayers] };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
