/**
 * Finds an area's pole of inaccessibility: the point farthest from its edges.
 *
 * The algorithm is that of Garcia-Castellanos and Lombardo, "Poles of inaccessibility" (2007), with a quadtree. A
 * square is subdivided only while it may contain a better point. Pure.
 */

/** Precision of the distance, as a share of the polygon's shorter side. */
const precision = 0.02;

/** A point of the plane in which distances are measured. */
export type PlanePoint = readonly [x: number, y: number];

interface Square {
  readonly center: PlanePoint;
  readonly halfSide: number;
  /** Distance from the centre to the nearest edge; negative outside the area. */
  readonly distance: number;
}

/** Returns the pole of a polygon. Rings are closed; the outer ring comes first. */
export function poleOfInaccessibility(rings: readonly (readonly PlanePoint[])[]): PlanePoint {
  const [west, east] = extremes(rings[0]!.map(([x]) => x));
  const [south, north] = extremes(rings[0]!.map(([, y]) => y));
  const side = Math.min(east - west, north - south);
  const squareAt = (x: number, y: number, halfSide: number): Square => ({
    center: [x, y],
    halfSide,
    distance: distanceAt([x, y], rings),
  });

  let open: Square[] = [];
  for (let x = west; x < east; x += side) {
    for (let y = south; y < north; y += side) open.push(squareAt(x + side / 2, y + side / 2, side / 2));
  }
  let best = open[0]!;
  while (open.length > 0) {
    for (const square of open) if (square.distance > best.distance) best = square;
    const promising = open.filter(
      ({ distance, halfSide }) => distance + halfSide * Math.SQRT2 > best.distance + side * precision,
    );
    open = promising.flatMap(({ center: [x, y], halfSide }) => {
      const quarter = halfSide / 2;
      return [-quarter, quarter].flatMap((dx) => [-quarter, quarter].map((dy) => squareAt(x + dx, y + dy, quarter)));
    });
  }
  return best.center;
}

/** Returns the lowest and the highest value. */
export function extremes(values: readonly number[]): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** Returns the distance to the nearest edge; negative outside the area. */
function distanceAt([x, y]: PlanePoint, rings: readonly (readonly PlanePoint[])[]): number {
  let inside = false;
  let nearest = Infinity;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [x0, y0] = ring[i - 1]!;
      const [x1, y1] = ring[i]!;
      if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
      nearest = Math.min(nearest, squaredDistance(x - x0, y - y0, x1 - x0, y1 - y0));
    }
  }
  return inside ? Math.sqrt(nearest) : -Math.sqrt(nearest);
}

/** Returns the squared distance from a point to the edge (dx, dy). Both are relative to the edge's start. */
function squaredDistance(x: number, y: number, dx: number, dy: number): number {
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, (x * dx + y * dy) / length));
  return (x - along * dx) ** 2 + (y - along * dy) ** 2;
}
