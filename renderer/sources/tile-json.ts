/** Reads TileJSON, versions 2 and 3 (https://github.com/mapbox/tilejson-spec). */
import type { Position } from '../types.js';
import { maxSourceZoom } from './metadata.js';
import type { TileServer } from './xyz.js';

/** Reads a document from `url`. Invalid optional fields are ignored. Throws when the document is not TileJSON. */
export function readTileJson(json: Uint8Array, url: string, maxZoom: number): TileServer {
  const document = parse(json);
  const tiles = document.tiles;
  const template = Array.isArray(tiles) ? tiles[0] : undefined;
  if (typeof template !== 'string')
    throw new TypeError('the URL answers neither a PMTiles archive nor TileJSON with "tiles"');
  const fromNorth = absolute(template, url);
  return {
    urlTemplate: document.scheme === 'tms' ? fromNorth.replaceAll('{y}', '{-y}') : fromNorth,
    minZoom: zoomOr(0, document.minzoom),
    maxZoom: zoomOr(maxZoom, document.maxzoom),
    bounds: boundsOf(document.bounds),
    center: centerOf(document.center),
    attribution: typeof document.attribution === 'string' ? document.attribution : '',
    vectorLayers: document.vector_layers,
  };
}

function parse(json: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(Buffer.from(json).toString()));
  } catch {
    return {};
  }
}

/** Braces are not valid in a URL's path, but they must be kept. */
const absolute = (template: string, url: string): string =>
  new URL(template, url).href.replace(/%7b/gi, '{').replace(/%7d/gi, '}');

const zoomOr = (otherwise: number, zoom: unknown): number =>
  typeof zoom === 'number' && zoom >= 0 && zoom <= maxSourceZoom ? Math.trunc(zoom) : otherwise;

/** The specification does not allow a box across the antimeridian. */
function boundsOf(bounds: unknown): TileServer['bounds'] {
  if (!isNumbers(bounds, 4)) return null;
  const [west, south, east, north] = bounds as [number, number, number, number];
  return west < east && south < north ? [west, south, east, north] : null;
}

function centerOf(center: unknown): Position | null {
  if (!isNumbers(center, 2)) return null;
  const [longitude, latitude] = center as [number, number];
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 ? [longitude, latitude] : null;
}

const isNumbers = (value: unknown, count: number): value is number[] =>
  Array.isArray(value) && value.length >= count && value.slice(0, count).every(Number.isFinite);
