/** Routes through the city: along the streets of the local grid, with turns at corners. Pure. */
import type { Random } from '../schemas/random.js';
import { highwayToAirport, streetGrids } from './landmarks.js';
import { distanceM, type PlanePoint, rotated, toPlane } from './plane.js';

/** A typical block, corner to corner, in metres: long along the grid's east, short along its north. */
const blockM = { east: 130, north: 90 };
const maxTurns = 6;
/** One more turn per this distance. */
const metresPerTurn = 600;

const grids = streetGrids.map(({ center, turnDeg }) => ({
  center: toPlane(center),
  turnRad: (turnDeg * Math.PI) / 180,
}));
const highway = highwayToAirport.map(toPlane);

/** Returns the rotation of the streets around a point from true east, counter-clockwise. */
export function gridTurnRad(point: PlanePoint): number {
  let nearest = grids[0];
  for (const grid of grids) {
    if (!nearest || distanceM(grid.center, point) < distanceM(nearest.center, point)) nearest = grid;
  }
  return nearest?.turnRad ?? 0;
}

/** Returns the corners of a route, including both ends. Its legs follow the street grid at its middle. */
export function routeThroughGrid(from: PlanePoint, to: PlanePoint, random: Random): PlanePoint[] {
  const turnRad = gridTurnRad({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 });
  const way = rotated({ x: to.x - from.x, y: to.y - from.y }, -turnRad);
  const steps = Math.min(maxTurns, 1 + Math.floor((Math.abs(way.x) + Math.abs(way.y)) / metresPerTurn));
  const [easts, norths] = [split(way.x, steps, blockM.east, random), split(way.y, steps, blockM.north, random)];
  const eastFirst = random.chance(0.5);
  const corners = [from];
  const walk = (leg: PlanePoint) => {
    const [last, step] = [corners.at(-1) as PlanePoint, rotated(leg, turnRad)];
    corners.push({ x: last.x + step.x, y: last.y + step.y });
  };
  for (let step = 0; step < steps; step += 1) {
    const east = { x: easts[step] ?? 0, y: 0 };
    const north = { x: 0, y: norths[step] ?? 0 };
    for (const leg of eastFirst ? [east, north] : [north, east]) walk(leg);
  }
  return corners;
}

/** Returns a route through the streets to the highway and on to the airport. */
export function routeToAirport(from: PlanePoint, random: Random): PlanePoint[] {
  const [ramp, ...rest] = highway;
  return ramp ? [...routeThroughGrid(from, ramp, random), ...rest] : [from];
}

/**
 * Splits a distance into pieces of whole blocks at random corners. The last piece is the rest, so they add up.
 */
function split(totalM: number, pieces: number, block: number, random: Random): number[] {
  const blocks = Math.trunc(totalM / block);
  const cuts = Array.from({ length: pieces - 1 }, () => Math.round(blocks * random.next()) * block);
  const ordered = [0, ...cuts.sort((a, b) => Math.abs(a) - Math.abs(b)), totalM];
  return ordered.slice(1).map((cut, index) => cut - (ordered[index] ?? 0));
}
