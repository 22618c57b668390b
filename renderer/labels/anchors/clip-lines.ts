/** Cuts lines, or the edges of areas, at the sides of a box. Pure. */
import type { Coordinates } from '../../tiles/coordinates.js';
import type { PixelBox } from '../../types.js';

/** Returns the parts inside the box, each as alternating x and y. An area's edge is closed, and begins anywhere. */
export function clippedLines({ xy, ends }: Coordinates, closed: boolean, box: PixelBox): number[][] {
  const parts: number[][] = [];
  let start = 0;
  for (const end of ends) {
    let part: number[] | undefined;
    for (let i = start; i < end - (closed ? 0 : 2); i += 2) {
      const next = i + 2 < end ? i + 2 : start;
      const [x, y] = [xy[i]!, xy[i + 1]!];
      const [dx, dy] = [xy[next]! - x, xy[next + 1]! - y];
      if (dx === 0 && dy === 0) continue;
      const from = Math.max(0, entry(x, dx, box.minX, box.maxX), entry(y, dy, box.minY, box.maxY));
      const to = Math.min(1, exit(x, dx, box.minX, box.maxX), exit(y, dy, box.minY, box.maxY));
      if (from >= to) {
        part = undefined;
        continue;
      }
      if (!part || from > 0) {
        part = [x + from * dx, y + from * dy];
        parts.push(part);
      }
      part.push(to < 1 ? x + to * dx : xy[next]!, to < 1 ? y + to * dy : xy[next + 1]!);
      if (to < 1) part = undefined;
    }
    start = end;
  }
  return parts;
}

/** Returns the share of a segment at which it enters a range of one coordinate; Infinity if it stays outside. */
function entry(at: number, step: number, min: number, max: number): number {
  if (step === 0) return at < min || at > max ? Infinity : -Infinity;
  return ((step > 0 ? min : max) - at) / step;
}

/** Returns the share of a segment at which it leaves a range of one coordinate. */
function exit(at: number, step: number, min: number, max: number): number {
  return step === 0 ? Infinity : ((step > 0 ? max : min) - at) / step;
}
