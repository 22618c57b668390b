/** Random views of 600 by 400 from a seed, so that peers draw the same ones. */
import { resolve } from 'node:path';
import { readMapQuery } from '../renderer/request/request.js';
import type { MapRequest, Position } from '../renderer/types.js';
import { createRandom } from '../schemas/random.js';

/** Width of all views, in CSS pixels. */
export const width = 600;
/** Height of all views, in CSS pixels. */
export const height = 400;

/** A part of the world with the archive that shows it. */
export interface Scene {
  readonly what: string;
  /** Null for the built-in basemap. */
  readonly archive: string | null;
  /** West, south, east, north of the views' centres, and their zooms. */
  readonly box: readonly [west: number, south: number, east: number, north: number];
  readonly zooms: readonly [number, number];
}

/** The whole world but the poles. */
export const basemap: Scene = { what: 'basemap', archive: null, box: [-170, -50, 170, 65], zooms: [2, 6] };

/** The extract of Florence of the reference views: one dense tile of zoom 14. */
export const streets: Scene & { readonly archive: string } = {
  what: 'streets',
  archive: resolve('renderer/reference/archives/florence.pmtiles'),
  box: [11.257, 43.776, 11.265, 43.782],
  zooms: [15, 16],
};

/** The camera of a map. */
export interface View {
  readonly center: Position;
  readonly zoom: number;
}

/** Returns `count` random views of a scene, the same for the same seed. */
export function views({ box: [west, south, east, north], zooms }: Scene, count: number, seed: number): View[] {
  const random = createRandom(seed).next;
  const between = (low: number, high: number): number => low + (high - low) * random();
  return Array.from({ length: count }, () => {
    const latitude = between(south, north);
    return { center: [between(west, east), latitude], zoom: between(...zooms) };
  });
}

/** Returns the request for the picture of a view. `scale` is 1, or 2 for @2x. */
export function requestOf({ center: [longitude, latitude], zoom }: View, scale: number): MapRequest {
  const sizes = { width: `${width}`, height: `${height}`, scale: `${scale}` };
  const read = readMapQuery({ ...sizes, center: `${latitude},${longitude}`, zoom: `${zoom}` });
  if (!read.ok) throw new TypeError(`${read.problem.param} ${read.problem.rule}`);
  return { ...read.value.request, fences: [] };
}
