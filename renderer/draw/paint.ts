/**
 * Everything but text and icons: the style's layers from bottom to top, each over all tiles.
 *
 * Imports `style` and `tiles`; what is drawn by N calls into the engine is grouped so that N stays small (see
 * `bucket.ts`).
 */
import type { CompiledStyle, LayerType, StyleLayer } from '../style/compile.js';
import { type Finish, paintAsOne } from './as-one.js';
import { paintBackground } from './background.js';
import type { BucketStore } from './bucket-store.js';
import { circlePainter } from './circle.js';
import { extrusionPainter, fillPainter } from './fill.js';
import type { Frame, LoadedTile } from './frame.js';
import { linePainter } from './line.js';
import type { PlainPainter, VectorPainter } from './painter.js';
import { paintRaster } from './raster.js';
import { type Selection, selectionOf } from './selection.js';
import { TileCanvas } from './tile-canvas.js';

const vectorPainters: Partial<Record<LayerType, VectorPainter>> = {
  fill: fillPainter,
  line: linePainter,
  circle: circlePainter,
  'fill-extrusion': extrusionPainter,
};

const plain: Finish = { opacity: 1, blurPx: 0 };

const selections = new WeakMap<StyleLayer, Selection>();

/** Layers whose source the frame has no tiles of are left out. */
export function paintLayers(frame: Frame, style: CompiledStyle, buckets: BucketStore): void {
  for (const layer of style.layers) {
    if (layer.isVisible(frame.view.zoom)) paintLayer(frame, layer, buckets);
  }
}

function paintLayer(frame: Frame, layer: StyleLayer, buckets: BucketStore): void {
  const source = layer.source ?? '';
  const tiles = frame.tiles.get(source) ?? [];
  const painter = vectorPainters[layer.type];
  if (painter) {
    const beside = painter.clipped ? [] : (frame.beside.get(source) ?? []);
    const finish = painter.finish?.(layer, frame.view.zoom, frame.view.scale) ?? plain;
    paintAsOne(frame, finish, (aside, isOpaque) => {
      const plain = isOpaque && painter.plain?.handles(layer) ? painter.plain : undefined;
      paintVector(aside, layer, painter, plain, [...tiles, ...beside], buckets);
    });
  } else if (layer.type === 'background') paintBackground(frame, layer);
  else if (layer.type === 'raster') paintRaster(frame, layer, tiles);
}

function paintVector(
  frame: Frame,
  layer: StyleLayer,
  painter: VectorPainter,
  plain: PlainPainter | undefined,
  tiles: readonly LoadedTile[],
  buckets: BucketStore,
): void {
  const selection = selectionFor(layer, painter);
  for (const { place, tile } of tiles) {
    const tileLayer = tile.kind === 'vector' ? tile.tile.layers.get(selection.sourceLayer) : undefined;
    if (tile.kind !== 'vector' || !tileLayer) continue;
    const canvas = new TileCanvas(frame, place, tileLayer.extent);
    if (painter.clipped && canvas.isEmpty) continue;
    frame.work.ask(layer, tileLayer.size);
    const near = painter.near?.(canvas, layer);
    const bucket = buckets.get(tile.key, tile.tile, selection, frame.wholeZoom, frame.images, near);
    const { batches, features, vertices } = bucket;
    frame.work.draw(layer, features, vertices);
    const paint = () => {
      for (const batch of batches) (plain ?? painter).paint(canvas, layer, batch);
    };
    if (batches.length === 0) continue;
    if (painter.clipped && !plain) canvas.clipped(paint);
    else paint();
  }
}

function selectionFor(layer: StyleLayer, painter: VectorPainter): Selection {
  let selection = selections.get(layer);
  if (!selection) {
    selection = selectionOf(layer, painter.properties, painter.sortKey);
    selections.set(layer, selection);
  }
  return selection;
}
