/** Paints areas and lines in a plain colour without the drawing engine. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { Coverage } from '../raster/coverage.js';
import { type Ink, inkOf, type Picture } from '../raster/picture.js';
import { Points } from '../raster/points.js';
import { Stroker, type StrokeStyle } from '../raster/stroke.js';
import { maxThinPx, ThinLines } from '../raster/thin-lines.js';
import type { Chunk } from './bucket.js';
import type { TileCanvas, Translate } from './tile-canvas.js';
import { isRing, type LineList, turnedRingPart } from './vertices.js';

/** Memory for the work on one shape. */
const coverage = new Coverage();
const thinLines = new ThinLines();
const points = new Points();

/** Returns a style's colour, with a further opacity of 0 to 1. */
export function plainInk({ r, g, b, a }: Color, opacity: number): Ink {
  const byte = (channel: number) => Math.round((255 * channel) / (a || 1));
  return inkOf(byte(r), byte(g), byte(b), a * opacity);
}

/** Number of pixels that are painted at once. Areas take 4 bytes for each of them. */
const maxPixelsAtOnce = 2 ** 20;

/** Returns the picture with one part of its area after the other. */
function bandsOf(picture: Picture): Picture[] {
  const { area } = picture;
  const rows = Math.max(1, Math.floor(maxPixelsAtOnce / (area.maxX - area.minX)));
  const bands: Picture[] = [];
  for (let { minY } = area; minY < area.maxY; minY += rows) {
    bands.push({ ...picture, area: { ...area, minY, maxY: Math.min(area.maxY, minY + rows) } });
  }
  return bands;
}

/** Fills areas. */
export function fillPlain(canvas: TileCanvas, chunks: readonly Chunk[], ink: Ink, translate: Translate): void {
  for (const band of bandsOf(canvas.picture)) fillBand(canvas, band, chunks, ink, translate);
}

function fillBand(
  canvas: TileCanvas,
  picture: Picture,
  chunks: readonly Chunk[],
  ink: Ink,
  translate: Translate,
): void {
  const { unitPx } = canvas;
  const { left, top } = canvas.origin(translate);
  for (const chunk of chunks) {
    const { minX, minY, maxX, maxY } = chunk.box;
    const [fromX, fromY, toX, toY] = [
      left + unitPx * minX,
      top + unitPx * minY,
      left + unitPx * maxX,
      top + unitPx * maxY,
    ];
    if (!coverage.begin(picture, fromX, fromY, toX, toY)) continue;
    const { xy, ends, kinds } = chunk.vertices();
    let start = 0;
    for (let part = 0; part < ends.length; part++) {
      const end = ends[part]!;
      points.place(xy, start, end, unitPx, left, top);
      // In one sum, rings of both directions would cancel each other out.
      coverage.ring(points, kinds[part] === turnedRingPart ? -1 : 1);
      start = end;
    }
    coverage.fill(ink);
  }
}

/** Strokes lines. Lengths of the vertices are tile units, those of the style device pixels. */
export function strokePlain(
  canvas: TileCanvas,
  lines: readonly LineList[],
  style: StrokeStyle,
  ink: Ink,
  translate: Translate,
): void {
  const stroke = style.widthPx <= maxThinPx ? strokeThin : strokeWide;
  for (const band of bandsOf(canvas.picture)) stroke(canvas, band, lines, style, ink, translate);
}

/** Share of its width that a cap of a thin line reaches beyond its end: half a circle has the area of this length. */
const capShares = { butt: 0, round: Math.PI / 8, square: 1 / 2 } as const;

function strokeThin(
  canvas: TileCanvas,
  picture: Picture,
  lines: readonly LineList[],
  { widthPx, cap }: StrokeStyle,
  ink: Ink,
  translate: Translate,
): void {
  const { unitPx } = canvas;
  const { left, top } = canvas.origin(translate);
  thinLines.begin(picture, widthPx, capShares[cap] * widthPx);
  for (const { xy, ends, kinds } of lines) {
    let start = 0;
    for (let part = 0; part < ends.length; part++) {
      const end = ends[part]!;
      thinLines.line(xy, start, end, isRing(kinds[part]!), unitPx, left, top);
      start = end;
    }
  }
  thinLines.fill(ink);
}

/** Translucent lines are painted at once: where they overlap, they would be seen through each other. */
function strokeWide(
  canvas: TileCanvas,
  picture: Picture,
  lines: readonly LineList[],
  style: StrokeStyle,
  ink: Ink,
  translate: Translate,
): void {
  const { unitPx } = canvas;
  const { left, top } = canvas.origin(translate);
  const { minX, minY, maxX, maxY } = picture.area;
  const atOnce = ink.opacity < 256;
  if (atOnce) coverage.begin(picture, minX, minY, maxX, maxY);
  const stroker = new Stroker(style);
  for (const { xy, ends, kinds } of lines) {
    let start = 0;
    for (let part = 0; part < ends.length; part++) {
      const end = ends[part]!;
      const closed = isRing(kinds[part]!);
      if (stroker.outline(xy, start, end, closed, unitPx, left, top)) {
        if (atOnce) stroker.addTo(coverage, closed);
        else stroker.paint(coverage, picture, closed, ink);
      }
      start = end;
    }
  }
  if (atOnce) coverage.fill(ink);
}
