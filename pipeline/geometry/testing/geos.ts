/** GEOS in WebAssembly, the oracle of planar geometry. Rings are [x0, y0, x1, y1, …], not closed. */
import initGeosJs from 'geos-wasm';

interface Geos {
  isValid(points: Float64Array): boolean;
  /** Tests whether the point is inside the ring or on its boundary. */
  covers(points: Float64Array, x: number, y: number): boolean;
  area(points: Float64Array): number;
  intersectionArea(a: Float64Array, b: Float64Array): number;
}

/** Loads the library. Its messages are dropped: results and exceptions say enough. */
export async function loadGeos(): Promise<Geos> {
  const geos = await initGeosJs({ noticeHandler: () => {} });

  /** Well-known binary, little-endian. */
  const read = (wkb: Buffer): number => {
    const pointer = geos.Module._malloc(wkb.length);
    geos.Module.HEAPU8.set(wkb, pointer);
    const geometry = geos.GEOSGeomFromWKB_buf(pointer, wkb.length);
    geos.Module._free(pointer);
    return geometry;
  };
  const point = (x: number, y: number): number => read(wellKnown(1, [], [x, y]));
  const polygon = (points: Float64Array): number =>
    read(wellKnown(3, [1, points.length / 2 + 1], [...points, points[0]!, points[1]!]));
  const areaOf = (geometry: number): number => {
    const result = geos.Module._malloc(8);
    geos.GEOSArea(geometry, result);
    const area = geos.Module.getValue(result, 'double');
    geos.Module._free(result);
    return area;
  };
  /** Frees the geometries after the query. */
  const query = <Result>(geometries: number[], read: (...geometries: number[]) => Result): Result => {
    const result = read(...geometries);
    for (const geometry of geometries) geos.GEOSGeom_destroy(geometry);
    return result;
  };

  return {
    isValid: (points) => query([polygon(points)], (ring) => geos.GEOSisValid(ring!) === 1),
    covers: (points, x, y) => query([polygon(points), point(x, y)], (ring, at) => geos.GEOSCovers(ring!, at!) === 1),
    area: (points) => query([polygon(points)], (ring) => areaOf(ring!)),
    intersectionArea: (a, b) =>
      query([polygon(a), polygon(b)], (first, second) =>
        query([geos.GEOSIntersection(first!, second!)], (common) => areaOf(common!)),
      ),
  };
}

function wellKnown(type: number, counts: number[], coordinates: number[]): Buffer {
  const wkb = Buffer.alloc(5 + 4 * counts.length + 8 * coordinates.length);
  wkb.writeUInt8(1, 0);
  wkb.writeUInt32LE(type, 1);
  for (const [i, count] of counts.entries()) wkb.writeUInt32LE(count, 5 + 4 * i);
  for (const [i, value] of coordinates.entries()) wkb.writeDoubleLE(value, 5 + 4 * counts.length + 8 * i);
  return wkb;
}
