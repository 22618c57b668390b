/** Paints areas and lines in a plain colour, without the drawing engine. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { type Ink, inkOf } from '../raster/ink.js';
import type { Picture } from '../raster/picture.js';
import { Stroker, type StrokeStyle } from '../raster/stroke.js';
import { maxThinPx } from '../raster/thin-lines.js';
import type { PixelBox } from '../types.js';
import { isRing, type LineList, turnedRingPart } from './vertices.js';

/** Where vertices lie in a picture: the device pixel of an x is `left + unitPx * x`. */
export interface Target {
  readonly picture: Picture;
  readonly unitPx: number;
  readonly left: number;
  readonly top: number;
}

/** Areas that are filled together. */
interface Area {
  /** Contains all vertices. */
  readonly box: PixelBox;
  vertices(): LineList;
}

/** Returns a style's colour, with a further opacity of 0 to 1. */
export function plainInk({ r, g, b, a }: Color, opacity: number): Ink {
  const byte = (channel: number) => Math.round((255 * channel) / (a || 1));
  return inkOf(byte(r), byte(g), byte(b), a * opacity);
}

/** Returns the picture with one part of its area after the other. */
const bandsOf = ({ bitmap, area }: Picture): Picture[] => bitmap.bands(area).map((band) => ({ bitmap, area: band }));

/** Fills one area after the other. */
export function fillPlain(target: Target, areas: readonly Area[], ink: Ink): void {
  for (const picture of bandsOf(target.picture)) fillBand({ ...target, picture }, areas, ink);
}

function fillBand({ picture, unitPx, left, top }: Target, areas: readonly Area[], ink: Ink): void {
  const { coverage } = picture.bitmap;
  for (const area of areas) {
    const { minX, minY, maxX, maxY } = area.box;
    const [fromX, fromY, toX, toY] = [
      left + unitPx * minX,
      top + unitPx * minY,
      left + unitPx * maxX,
      top + unitPx * maxY,
    ];
    if (!coverage.begin(picture.area, fromX, fromY, toX, toY)) continue;
    const { xy, ends, kinds } = area.vertices();
    let start = 0;
    for (let part = 0; part < ends.length; part++) {
      const end = ends[part]!;
      // In one sum, rings of both directions would cancel each other out.
      coverage.placedRing(xy, start, end, unitPx, left, top, kinds[part] === turnedRingPart ? -1 : 1);
      start = end;
    }
    coverage.fill(ink);
  }
}

/** Strokes lines. Lengths of the style are device pixels. */
export function strokePlain(target: Target, lines: readonly LineList[], style: StrokeStyle, ink: Ink): void {
  const stroke = style.widthPx <= maxThinPx ? strokeThin : strokeWide;
  for (const picture of bandsOf(target.picture)) stroke({ ...target, picture }, lines, style, ink);
}

/** Share of its width that a cap of a thin line reaches beyond its end: half a circle has the area of this length. */
const capShares = { butt: 0, round: Math.PI / 8, square: 1 / 2 } as const;

function strokeThin(
  { picture, unitPx, left, top }: Target,
  lines: readonly LineList[],
  { widthPx, cap }: StrokeStyle,
  ink: Ink,
): void {
  const { thinLines } = picture.bitmap;
  thinLines.begin(picture.area, widthPx, capShares[cap] * widthPx);
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
  { picture, unitPx, left, top }: Target,
  lines: readonly LineList[],
  style: StrokeStyle,
  ink: Ink,
): void {
  const { coverage } = picture.bitmap;
  const { minX, minY, maxX, maxY } = picture.area;
  const atOnce = ink.opacity < 256;
  if (atOnce) coverage.begin(picture.area, minX, minY, maxX, maxY);
  const stroker = new Stroker(style);
  for (const { xy, ends, kinds } of lines) {
    let start = 0;
    for (let part = 0; part < ends.length; part++) {
      const end = ends[part]!;
      const closed = isRing(kinds[part]!);
      if (stroker.outline(xy, start, end, closed, unitPx, left, top)) {
        if (atOnce) stroker.addTo(coverage, closed);
        else stroker.paint(picture, closed, ink);
      }
      start = end;
    }
  }
  if (atOnce) coverage.fill(ink);
}
