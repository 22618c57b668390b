/**
 * Where the camera stands so that everything is visible: zoom and centre from what must be shown and the room it takes around its places.
 *
 * Flows in: the camera as it was asked for, and items, each a chain of positions with margins in CSS pixels. Flows out: the viewport. Pure.
 */
import type { Camera, Position, Viewport } from '../types.js';
import { type Pixel, worldPixel, worldPosition } from './projection.js';

/** CSS pixels that a thing reaches beyond its positions. */
export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Neighbours of the chain are the short way apart; a marker is a chain of one. */
export interface FitItem {
  readonly positions: readonly Position[];
  readonly margins: Margins;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

const minZoom = 1;
const maxZoom = 23;
/** Streets can be read, and their surroundings seen. */
const zoomOfOnePlace = 15;
/** Share of the image that stays free on each side. */
const freeShare = 0.05;
/** Of the image's height, where a long attribution covers a small image. */
const maxCoveredShare = 1 / 3;
const noMargins: Margins = { left: 0, right: 0, top: 0, bottom: 0 };

/**
 * A box is fitted exactly; other things with some room on each side and, where the camera has no centre, above what is covered of the image's
 * lower end (`coveredPx`). The camera must have a bbox, a centre and a zoom, or items.
 */
export function fitView(camera: Camera, items: readonly FitItem[], size: ImageSize, coveredPx = 0): Viewport {
  if (camera.bbox) return fitBox(camera.bbox, size);
  if (camera.center && camera.zoom !== null) return { ...size, center: camera.center, zoom: camera.zoom };
  const chains = gathered(items);
  const covered = camera.center ? 0 : Math.min(coveredPx, size.height * maxCoveredShare);
  const height = size.height - covered;
  const free: ImageSize = { ...size, width: size.width * (1 - 2 * freeShare), height: height * (1 - 2 * freeShare) };
  const zoom = camera.zoom ?? largestZoom((level) => isVisible(chains, level, free, camera.center), largestUseful(chains));
  return { ...size, zoom, center: camera.center ?? southOf(middle(chains, zoom), covered / 2, zoom) };
}

function fitBox([west, south, east, north]: NonNullable<Camera['bbox']>, size: ImageSize): Viewport {
  const corners: Position[] = [
    [west, south],
    [east < west ? east + 360 : east, north],
  ];
  const chains = [{ positions: corners, margins: noMargins }];
  const zoom = largestZoom((level) => isVisible(chains, level, size, null), maxZoom);
  return { ...size, zoom, center: middle(chains, zoom) };
}

/** Several places say by their distance how near to go; one alone doesn't. */
function largestUseful(chains: readonly FitItem[]): number {
  const [first] = chains[0]?.positions ?? [];
  const isOnePlace = chains.every(({ positions }) => positions.every(([x, y]) => x === first?.[0] && y === first[1]));
  return isOnePlace ? zoomOfOnePlace : maxZoom;
}

/** By halving, to a thousandth: visible at a zoom means visible at every lower one. The lowest when nothing helps. */
function largestZoom(isVisibleAt: (zoom: number) => boolean, upper: number): number {
  if (isVisibleAt(upper)) return upper;
  let [low, high] = [minZoom, upper];
  while (high - low > 0.001) {
    const middleZoom = (low + high) / 2;
    if (isVisibleAt(middleZoom)) low = middleZoom;
    else high = middleZoom;
  }
  return low;
}

interface Extent {
  readonly min: Pixel;
  readonly max: Pixel;
}

/** World pixels that the items take at this zoom, margins included. */
function extent(chains: readonly FitItem[], zoom: number): Extent {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { positions, margins } of chains) {
    for (const position of positions) {
      const [x, y] = worldPixel(position, zoom);
      minX = Math.min(minX, x - margins.left);
      maxX = Math.max(maxX, x + margins.right);
      minY = Math.min(minY, y - margins.top);
      maxY = Math.max(maxY, y + margins.bottom);
    }
  }
  return { min: [minX, minY], max: [maxX, maxY] };
}

function isVisible(chains: readonly FitItem[], zoom: number, { width, height }: ImageSize, center: Position | null): boolean {
  const { min, max } = extent(chains, zoom);
  if (center === null) return max[0] - min[0] <= width && max[1] - min[1] <= height;
  const [x, y] = worldPixel(nearest(center, middle(chains, zoom)), zoom);
  return Math.max(x - min[0], max[0] - x) <= width / 2 && Math.max(y - min[1], max[1] - y) <= height / 2;
}

function middle(chains: readonly FitItem[], zoom: number): Position {
  const { min, max } = extent(chains, zoom);
  return worldPosition([(min[0] + max[0]) / 2, (min[1] + max[1]) / 2], zoom);
}

function southOf(position: Position, distancePx: number, zoom: number): Position {
  const [x, y] = worldPixel(position, zoom);
  return worldPosition([x, y + distancePx], zoom);
}

/** The copy of a position whose longitude is nearest to another's. */
export const nearest = ([longitude, latitude]: Position, [other]: Position): Position => [
  longitude + 360 * Math.round((other - longitude) / 360),
  latitude,
];

/** Each position moved to the copy of the world nearest to the one before it: no line crosses the map for the antimeridian's sake. */
export function unwrapped(positions: readonly Position[]): Position[] {
  const chain: Position[] = [];
  for (const position of positions) chain.push(chain.length === 0 ? position : nearest(position, chain.at(-1) as Position));
  return chain;
}

/** The items in the copies of the world in which they lie closest together. */
export function gathered(items: readonly FitItem[]): FitItem[] {
  const chains = items
    .filter(({ positions }) => positions.length > 0)
    .map((item) => ({ ...item, positions: unwrapped(item.positions) }));
  let best = chains;
  let bestSpan = Infinity;
  // The westernmost thing of the tightest arrangement is one of the items.
  for (const { positions } of chains) {
    const west = longitudes(positions).west;
    const arranged = chains.map((item) => ({ ...item, positions: eastOf(item.positions, west) }));
    const all = longitudes(arranged.flatMap((item) => item.positions));
    if (all.east - all.west < bestSpan) {
      best = arranged;
      bestSpan = all.east - all.west;
    }
  }
  return best;
}

function longitudes(positions: readonly Position[]): { west: number; east: number } {
  let [west, east] = [Infinity, -Infinity];
  for (const [longitude] of positions) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
  }
  return { west, east };
}

/** The chain in the first copy that doesn't reach west of a longitude. */
function eastOf(positions: readonly Position[], west: number): Position[] {
  const copies = Math.ceil((west - longitudes(positions).west) / 360 - 1e-12);
  return positions.map(([longitude, latitude]) => [longitude + 360 * copies, latitude]);
}
