/**
 * Fits the camera so that everything is visible: centre and zoom from items and their margins.
 *
 * Input: the requested camera, and items, each a chain of positions with margins in CSS pixels. Output: the viewport.
 * Pure.
 */
import type { Camera, Position, Viewport } from '../types.js';
import { type Pixel, worldPixel, worldPosition } from './projection.js';

/** Distances that an item reaches beyond its positions, in CSS pixels. */
export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A chain of positions, connected the short way around the world. A marker is a chain of one. */
export interface FitItem {
  readonly positions: readonly Position[];
  readonly margins: Margins;
}

/** Width and height in CSS pixels. `scale` is device pixels per CSS pixel. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

/** The lowest zoom of requests. A small image may need less to show everything. */
const minZoom = 1;
/** The world is 64 pixels wide. A world that is smaller yet would be repeated too often. */
const lowestZoom = -3;
const maxZoom = 23;
/** Zoom of a single position: streets are readable, with their neighbourhood. */
export const streetZoom = 15;
/** Margin on each side, as a share of the image. */
const freeShare = 0.05;
/** Maximum share of the height that the attribution of a small image takes. */
const maxCoveredShare = 1 / 3;
const noMargins: Margins = { left: 0, right: 0, top: 0, bottom: 0 };

/**
 * Returns the viewport. A bbox is fitted exactly. Other items get a margin on each side. Without a centre, they lie
 * above the lower `coveredPx` of the image. A single position has no extent, so its zoom is given. The camera must have
 * a bbox, a centre and a zoom, or items.
 */
export function fitView(
  camera: Camera,
  items: readonly FitItem[],
  size: ImageSize,
  coveredPx = 0,
  zoomOfOnePlace = streetZoom,
): Viewport {
  if (camera.bbox) return fitBox(camera.bbox, size);
  if (camera.center && camera.zoom !== null) return { ...size, center: camera.center, zoom: camera.zoom };
  const chains = outlines(gathered(items));
  const covered = camera.center ? 0 : Math.min(coveredPx, size.height * maxCoveredShare);
  const height = size.height - covered;
  const free: ImageSize = { ...size, width: size.width * (1 - 2 * freeShare), height: height * (1 - 2 * freeShare) };
  const zoom =
    camera.zoom ??
    largestZoom(
      (level) => isVisible(chains, level, free, camera.center),
      isOnePlace(chains) ? zoomOfOnePlace : maxZoom,
    );
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

/**
 * Returns the outline of items with equal margins: a chain of two corners of their bounding box. Each zoom that is
 * tried costs time proportional to the positions, so fewer positions are faster.
 */
function outlines(chains: readonly FitItem[]): FitItem[] {
  const boxes = new Map<string, { west: number; south: number; east: number; north: number; margins: Margins }>();
  for (const { positions, margins } of chains) {
    const key = `${margins.left} ${margins.right} ${margins.top} ${margins.bottom}`;
    const box = boxes.get(key) ?? { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity, margins };
    for (const [longitude, latitude] of positions) {
      box.west = Math.min(box.west, longitude);
      box.east = Math.max(box.east, longitude);
      box.south = Math.min(box.south, latitude);
      box.north = Math.max(box.north, latitude);
    }
    boxes.set(key, box);
  }
  return [...boxes.values()].map(({ west, south, east, north, margins }) => ({
    positions: [
      [west, south],
      [east, north],
    ],
    margins,
  }));
}

/** Tests whether all positions are the same. */
function isOnePlace(chains: readonly FitItem[]): boolean {
  const [first] = chains[0]?.positions ?? [];
  return chains.every(({ positions }) => positions.every(([x, y]) => x === first?.[0] && y === first[1]));
}

/**
 * Returns the largest zoom at which the items are visible, by bisection to a thousandth. Returns the lowest zoom when
 * none fits. Items that are visible at a zoom are visible at every lower one.
 */
function largestZoom(isVisibleAt: (zoom: number) => boolean, upper: number): number {
  if (isVisibleAt(upper)) return upper;
  let [low, high] = isVisibleAt(minZoom) ? [minZoom, upper] : [lowestZoom, minZoom];
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

/** Returns the extent of the items at this zoom in world pixels, including margins. */
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

function isVisible(
  chains: readonly FitItem[],
  zoom: number,
  { width, height }: ImageSize,
  center: Position | null,
): boolean {
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

/** Returns the copy of a position whose longitude is nearest to another one. */
export const nearest = ([longitude, latitude]: Position, [other]: Position): Position => [
  longitude + 360 * Math.round((other - longitude) / 360),
  latitude,
];

/**
 * Moves each position to the copy of the world nearest to the previous one, so that no line crosses the map at the
 * antimeridian.
 */
export function unwrapped(positions: readonly Position[]): Position[] {
  const chain: Position[] = [];
  for (const position of positions)
    chain.push(chain.length === 0 ? position : nearest(position, chain.at(-1) as Position));
  return chain;
}

/** Rounding differences in degrees that count as equal. */
const roundingDeg = 3.6e-10;

/** Returns the items in the copies of the world in which they lie closest together. Takes the time of a sort. */
export function gathered(items: readonly FitItem[]): FitItem[] {
  const chains = items
    .filter(({ positions }) => positions.length > 0)
    .map((item) => ({ ...item, positions: unwrapped(item.positions) }));
  const extents = chains.map(({ positions }) => longitudes(positions));
  const west = extents[tightestStart(extents)]?.west ?? 0;
  return chains.map((item, index) => ({ ...item, positions: eastOf(item.positions, extents[index]!.west, west) }));
}

interface Longitudes {
  readonly west: number;
  readonly east: number;
}

/**
 * Returns the index of the westernmost item of the tightest arrangement, or -1 without items. Among equal ones it
 * returns the first.
 *
 * On the circle, everything east of an item stays, and everything before it goes around once. Two passes, one in each
 * direction, give the eastern reach of both.
 */
function tightestStart(extents: readonly Longitudes[]): number {
  const order = extents
    .map(({ west, east }, index) => ({ index, west: onCircle(west), east: onCircle(west) + (east - west) }))
    .sort((a, b) => a.west - b.west);
  const eastFrom = new Float64Array(order.length + 1).fill(-Infinity);
  for (let i = order.length - 1; i >= 0; i--) eastFrom[i] = Math.max(eastFrom[i + 1]!, order[i]!.east);
  let [eastBefore, firstEqual] = [-Infinity, 0];
  const spans = new Float64Array(order.length);
  for (const { index, west } of order) {
    for (; order[firstEqual]!.west < west - roundingDeg; firstEqual++)
      eastBefore = Math.max(eastBefore, order[firstEqual]!.east);
    spans[index] = Math.max(eastFrom[firstEqual]!, eastBefore + 360) - west;
  }
  const least = spans.reduce((a, b) => Math.min(a, b), Infinity);
  return spans.findIndex((span) => span <= least + roundingDeg);
}

/** Returns the longitude from 0 to 360. A value just below 360 by rounding counts as 0. */
function onCircle(longitude: number): number {
  const turn = longitude - 360 * Math.floor(longitude / 360);
  return turn >= 360 - roundingDeg ? turn - 360 : turn;
}

function longitudes(positions: readonly Position[]): Longitudes {
  let [west, east] = [Infinity, -Infinity];
  for (const [longitude] of positions) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
  }
  return { west, east };
}

/**
 * Returns the chain in the first copy of the world that does not reach west of a longitude. `ownWest` is its west end.
 */
function eastOf(positions: readonly Position[], ownWest: number, west: number): readonly Position[] {
  const copies = Math.ceil((west - ownWest - roundingDeg) / 360);
  return copies === 0 ? positions : positions.map(([longitude, latitude]) => [longitude + 360 * copies, latitude]);
}
