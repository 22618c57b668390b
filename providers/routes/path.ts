/** Paths of routes. Pure. */
import { distance, wrapDegrees } from '../../pipeline/geometry/scale.js';
import type { Position } from '../../schemas/json/common.js';

/**
 * Returns so many points on a path, evenly spaced, the first and the last at its ends. A part that crosses the
 * antimeridian goes the short way.
 */
export function pathThrough(path: readonly Position[], points: number): Position[] {
  const reached = [0];
  for (const [index, [x, y]] of path.slice(1).entries())
    reached.push(reached[index]! + distance(...path[index]!, x, y));
  const total = reached.at(-1)!;
  let edge = 0;
  return Array.from({ length: points }, (_, index): Position => {
    if (index === points - 1) return path.at(-1)!;
    const target = (total * index) / (points - 1);
    while (edge < path.length - 2 && reached[edge + 1]! < target) edge++;
    const [start, end] = [path[edge]!, path[edge + 1] ?? path[edge]!];
    const length = (reached[edge + 1] ?? reached[edge]!) - reached[edge]!;
    const share = length > 0 ? (target - reached[edge]!) / length : 0;
    const eastward = wrapDegrees(end[0] - start[0]);
    return [wrapDegrees(start[0] + share * eastward), start[1] + share * (end[1] - start[1])];
  });
}
