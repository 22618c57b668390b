/** Chains of positions as lines and areas in the image, wherever the world repeats in it. */
import type { Position, Viewport } from '../types.js';
import { nearest, unwrapped } from '../view/fit.js';
import { worldPixel, worldSizePx } from '../view/projection.js';

/** SVG path data of a chain in CSS pixels of the image, once for each copy of the world in which any of it may be seen. `reachPx` is what is drawn beside it. */
export function chainPath(view: Viewport, positions: readonly Position[], reachPx: number, isClosed = false): string {
  const chain = nearCenter(view, unwrapped(positions));
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const points = chain.map((position) => {
    const [x, y] = worldPixel(position, view.zoom);
    return [x - centerX + view.width / 2, y - centerY + view.height / 2] as const;
  });
  const worldPx = worldSizePx(view.zoom);
  const west = Math.min(...points.map(([x]) => x)) - reachPx;
  const east = Math.max(...points.map(([x]) => x)) + reachPx;
  let data = '';
  for (let copy = Math.ceil(-east / worldPx); west + copy * worldPx < view.width; copy++) {
    const shifted = points.map(([x, y]) => `${(x + copy * worldPx).toFixed(2)} ${y.toFixed(2)}`);
    data += `M${shifted.join('L')}${isClosed ? 'Z' : ''}`;
  }
  return data;
}

/** The chain in the copy of the world whose first position is nearest to the centre. */
function nearCenter(view: Viewport, chain: readonly Position[]): Position[] {
  const [first] = chain;
  if (first === undefined) return [];
  const world = nearest(first, view.center)[0] - first[0];
  return chain.map(([longitude, latitude]) => [longitude + world, latitude]);
}
