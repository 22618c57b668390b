/** Divides the features of a layer by where they lie, so that a map prepares only those near its view. Pure. */
import type { PixelBox } from '../types.js';
import { TileBox } from './coordinates.js';

/** The boxes of a layer's features: lowest x and y, highest x and y, in tile units. */
export type Boxes = Int32Array;

/** Neighbouring features of a layer. */
export interface Cell {
  /** Contains all features, in tile units. */
  readonly box: PixelBox;
  /** Their indices in the layer, in ascending order. */
  readonly orders: readonly number[];
}

/** Features in a cell of the finest grid, if they are spread evenly. A cell has a cost of its own in each map. */
const perCell = 64;
/** Cells across the finest grid of a crowded tile. */
const mostAcross = 8;

/**
 * Divides features among grids of 1, 2, 4 and 8 cells each way. A feature lies in the finest grid whose cells are as
 * large as the feature, and there in the cell of its middle. Therefore long features do not widen the cells of short
 * ones.
 */
export function cellsOf(boxes: Boxes, extent: number): Cell[] {
  const count = boxes.length / 4;
  let maxAcross = 1;
  while (maxAcross < mostAcross && (2 * maxAcross) ** 2 * perCell <= count) maxAcross *= 2;
  const byNumber: number[][] = [];
  for (let order = 0; order < count; order++) {
    const number = cellNumber(boxes, 4 * order, extent, maxAcross);
    const orders = byNumber[number];
    if (orders) orders.push(order);
    else byNumber[number] = [order];
  }
  // Numbers without a cell are left out.
  return byNumber.flatMap((orders) => ({ box: boxAround(boxes, orders), orders }));
}

/** Numbers the cells of all grids, the coarsest first. */
function cellNumber(boxes: Boxes, at: number, extent: number, maxAcross: number): number {
  const [minX, minY, maxX, maxY] = [boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!];
  const size = Math.max(maxX - minX, maxY - minY);
  let across = 1;
  let first = 0;
  while (across < maxAcross && 2 * across * size <= extent) {
    first += across * across;
    across *= 2;
  }
  return first + across * indexOf(minY, maxY, across, extent) + indexOf(minX, maxX, across, extent);
}

function indexOf(low: number, high: number, across: number, extent: number): number {
  const share = (low + high) / 2 / extent;
  return Math.max(0, Math.min(across - 1, Math.floor(share * across)));
}

function boxAround(boxes: Boxes, orders: readonly number[]): PixelBox {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const order of orders) {
    const at = 4 * order;
    if (boxes[at]! < minX) minX = boxes[at]!;
    if (boxes[at + 1]! < minY) minY = boxes[at + 1]!;
    if (boxes[at + 2]! > maxX) maxX = boxes[at + 2]!;
    if (boxes[at + 3]! > maxY) maxY = boxes[at + 3]!;
  }
  return new TileBox(minX, minY, maxX, maxY);
}
