/**
 * Rings as the geometry reads them, and the index that makes large ones cheap: edges listed by bands of latitude.
 *
 * Edge e runs from vertex e to vertex e + 1, the last one back to vertex 0. The latitudes of a ring are cut into bands of
 * equal height, and each band lists every edge that touches it, so a question about one latitude reads one band.
 */

/** A view of one unwrapped ring and its bands within larger arrays. `box`: degrees, in the ring's own frame. */
export interface Ring {
  points: Float64Array;
  /** Index into `points` of the first vertex's longitude. */
  first: number;
  /** Vertices, the first not repeated. */
  count: number;
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
  bands: Uint16Array;
  /** Index into `bands` of the number of bands; -1 when the ring is small and has none. */
  bandsAt: number;
}

/** Rings up to this many vertices are read whole, which is as fast as asking an index; larger ones always have bands. */
export const maxPlainVertices = 32;

/** Bounds the index of a ring whose edges are mostly tall, such as a comb. */
const maxEntriesPerEdge = 6;

/** The band of a latitude, 0 to bandCount - 1. Never decreases as the latitude grows, so an edge's bands are contiguous. */
export function bandAt(latitude: number, minY: number, maxY: number, bandCount: number): number {
  const band = Math.floor(((latitude - minY) / (maxY - minY)) * bandCount);
  return band < 0 ? 0 : band >= bandCount ? bandCount - 1 : band;
}

/**
 * The bands of a ring of more than {@link maxPlainVertices} as [bandCount, end of band 0, end of band 1, …, edges of band 0, edges
 * of band 1, …], where ends count entries from the first edge on. Half as many bands as edges, fewer when most edges are tall.
 */
export function bandEdges(points: Float64Array, minY: number, maxY: number): Uint16Array {
  const count = points.length / 2;
  for (let bandCount = count >> 1; ; bandCount >>= 1) {
    const ends = bandEnds(points, minY, maxY, bandCount);
    if (ends[bandCount - 1]! <= maxEntriesPerEdge * count) return fillBands(points, minY, maxY, ends);
  }
}

function bandEnds(points: Float64Array, minY: number, maxY: number, bandCount: number): Int32Array {
  const ends = new Int32Array(bandCount);
  for (let edge = 0; edge < points.length / 2; edge++) {
    const [from, to] = bandsOfEdge(points, edge, minY, maxY, bandCount);
    for (let band = from; band <= to; band++) ends[band]!++;
  }
  for (let band = 1; band < bandCount; band++) ends[band]! += ends[band - 1]!;
  return ends;
}

function fillBands(points: Float64Array, minY: number, maxY: number, ends: Int32Array): Uint16Array {
  const bandCount = ends.length;
  const bands = new Uint16Array(1 + bandCount + ends[bandCount - 1]!);
  bands[0] = bandCount;
  bands.set(ends, 1);
  const next = ends.slice();
  for (let edge = points.length / 2 - 1; edge >= 0; edge--) {
    const [from, to] = bandsOfEdge(points, edge, minY, maxY, bandCount);
    for (let band = from; band <= to; band++) bands[1 + bandCount + --next[band]!] = edge;
  }
  return bands;
}

function bandsOfEdge(points: Float64Array, edge: number, minY: number, maxY: number, bandCount: number): [number, number] {
  const from = bandAt(points[2 * edge + 1]!, minY, maxY, bandCount);
  const to = bandAt(points[(2 * edge + 3) % points.length]!, minY, maxY, bandCount);
  return from <= to ? [from, to] : [to, from];
}

/** The bounds of unwrapped coordinates: [minX, minY, maxX, maxY]. */
export function boundsOf(points: Float64Array): [number, number, number, number] {
  let minX = Infinity;
  let minY = Infinity;
  let maxX = -Infinity;
  let maxY = -Infinity;
  for (let i = 0; i < points.length; i += 2) {
    minX = Math.min(minX, points[i]!);
    maxX = Math.max(maxX, points[i]!);
    minY = Math.min(minY, points[i + 1]!);
    maxY = Math.max(maxY, points[i + 1]!);
  }
  return [minX, minY, maxX, maxY];
}
