/** Joins ways into polygons: multipolygons, and land from coastlines. Positions are longitudes and latitudes. Pure. */
import type { Position } from 'geojson';

type Line = readonly Position[];
/** West, south, east, north. */
export type Bounds = readonly [number, number, number, number];

const keyOf = (position: Position): string => position.join();

/** Returns polygons with their holes. Lines that do not close are not used. */
export function polygonsOf(lines: readonly Line[]): Position[][][] {
  const rings = joined(lines).filter((line) => line.length > 3 && isClosed(line));
  const depths = rings.map((ring) => rings.filter((other) => other !== ring && isInside(ring[0]!, other)).length);
  const outer = rings.filter((_, index) => depths[index]! % 2 === 0);
  return outer.map((ring) => [
    ring,
    ...rings.filter((hole, index) => depths[index]! % 2 === 1 && isInside(hole[0]!, ring)),
  ]);
}

/** Joins lines at their ends: either way round, or in their own direction only. */
export function joined(lines: readonly Line[], mayReverse = true): Position[][] {
  const left = new Set(lines);
  const ends = new Map<string, Line[]>();
  for (const line of lines) {
    for (const end of [line[0]!, line.at(-1)!]) ends.set(keyOf(end), [...(ends.get(keyOf(end)) ?? []), line]);
  }
  /** Takes the line that begins, or ends, at this position. */
  const take = (position: Position, begins: boolean): Line | undefined => {
    const at = keyOf(position);
    const isForward = (line: Line) => keyOf(begins ? line[0]! : line.at(-1)!) === at;
    const next = ends.get(at)?.find((line) => left.has(line) && (mayReverse || isForward(line)));
    if (!next) return undefined;
    left.delete(next);
    return isForward(next) ? next : next.toReversed();
  };
  return lines.flatMap((first) => {
    if (!left.delete(first)) return [];
    let chain = [...first];
    while (!isClosed(chain)) {
      const [after, before] = [take(chain.at(-1)!, true), take(chain[0]!, false)];
      if (!after && !before) break;
      chain = [...(before ?? []).slice(0, -1), ...chain, ...(after ?? []).slice(1)];
    }
    return [chain];
  });
}

const isClosed = (line: Line): boolean => keyOf(line[0]!) === keyOf(line.at(-1)!);

function isInside([x, y]: Position, ring: Line): boolean {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [ax, ay] = ring[i] as [number, number];
    const [bx, by] = ring[j] as [number, number];
    if (ay > y! !== by > y! && x! < ((bx - ax) * (y! - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/**
 * Returns the land within the bounds. Coastlines have land on their left. They are cut at the bounds and closed along
 * them, counter-clockwise. Islands that cross the bounds are left out. Without any coastline, all is land.
 */
export function landOf(coastlines: readonly Line[], bounds: Bounds): Position[][][] {
  const chains = joined(coastlines, false);
  const closed = chains.filter(isClosed);
  const pieces = chains.filter((chain) => !closed.includes(chain)).flatMap((chain) => piecesWithin(chain, bounds));
  const [west, south, east, north] = bounds;
  const isWithin = ([x, y]: Position) => x! > west && x! < east && y! > south && y! < north;
  const islands = closed.filter((ring) => ring.length > 3 && ring.every(isWithin)).map((ring) => [ring]);
  if (pieces.length > 0) return [...closedAlong(pieces, bounds).map((ring) => [ring]), ...islands];
  if (islands.length > 0) return islands;
  return [
    [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  ];
}

/** Returns the parts of a line within the bounds, with their ends on them. */
function piecesWithin(line: Line, bounds: Bounds): Position[][] {
  const pieces: Position[][] = [];
  for (let i = 1; i < line.length; i++) {
    const cut = clipped(line[i - 1]!, line[i]!, bounds);
    if (!cut) continue;
    const last = pieces.at(-1);
    if (last && keyOf(last.at(-1)!) === keyOf(cut[0])) last.push(cut[1]);
    else pieces.push([...cut]);
  }
  return pieces;
}

/** Liang and Barsky's algorithm. */
function clipped(a: Position, b: Position, [west, south, east, north]: Bounds): [Position, Position] | undefined {
  const [x, y] = a as [number, number];
  const [dx, dy] = [b[0]! - x, b[1]! - y];
  let [from, to] = [0, 1];
  for (const [step, room] of [
    [-dx, x - west],
    [dx, east - x],
    [-dy, y - south],
    [dy, north - y],
  ] as const) {
    if (step === 0 && room < 0) return undefined;
    if (step < 0) from = Math.max(from, room / step);
    else if (step > 0) to = Math.min(to, room / step);
  }
  if (from >= to) return undefined;
  return [from === 0 ? a : [x + from * dx, y + from * dy], to === 1 ? b : [x + to * dx, y + to * dy]];
}

/** Closes pieces along the bounds: from the end of each, counter-clockwise, to the next beginning. */
function closedAlong(pieces: readonly Position[][], bounds: Bounds): Position[][] {
  const [west, south, east, north] = bounds;
  const corners: Position[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
  const left = new Set(pieces);
  const rings: Position[][] = [];
  for (const first of pieces) {
    if (!left.delete(first)) continue;
    const ring = [...first];
    for (;;) {
      const at = placeOn(ring.at(-1)!, bounds);
      const ahead = (position: Position) => (placeOn(position, bounds) - at + 4) % 4 || 4;
      const starts = [first, ...left].toSorted((a, b) => ahead(a[0]!) - ahead(b[0]!));
      const next = starts[0]!;
      ring.push(...corners.toSorted((a, b) => ahead(a) - ahead(b)).filter((c) => ahead(c) < ahead(next[0]!)));
      if (next === first) break;
      left.delete(next);
      ring.push(...next);
    }
    rings.push([...ring, ring[0]!]);
  }
  return rings;
}

/** Returns the position along the bounds, counter-clockwise from the south-west corner: 0 to 4. */
function placeOn([x, y]: Position, [west, south, east, north]: Bounds): number {
  const [across, up] = [(x! - west) / (east - west), (y! - south) / (north - south)];
  const distances = [Math.abs(up), Math.abs(1 - across), Math.abs(1 - up), Math.abs(across)];
  const side = distances.indexOf(Math.min(...distances));
  return (side + [across, up, 1 - across, 1 - up][side]!) % 4;
}
