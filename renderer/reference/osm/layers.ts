/** What both schemas share: a sink for features, names, and the sizes of areas. Pure. */
import type { Feature, Geometry, Position } from 'geojson';
import { labelPoint } from '../../basemap/label-point.js';
import type { ZoomedLayer } from '../../basemap/tiles.js';
import type { Tags } from './extract.js';

/** The properties of a feature. One that is undefined is left out. */
export type Properties = Readonly<Record<string, string | number | boolean | undefined>>;

/** Collects features by layer, in the order of the layers' first features. */
export class Layers {
  private readonly features = new Map<string, Feature[]>();

  constructor(private readonly maxZoom: number) {}

  /** Adds a feature to a layer from a zoom on. Undefined properties are left out. */
  add(layer: string, minZoom: number, geometry: Geometry, properties: Properties): void {
    const kept = Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
    const list = this.features.get(layer) ?? [];
    this.features.set(layer, list);
    list.push({ type: 'Feature', geometry, properties: { ...kept, min_zoom: minZoom } });
  }

  /** Returns the layers, for all zooms of the archive. */
  all(): ZoomedLayer[] {
    return [...this.features].map(([name, features]) => ({ name, minZoom: 0, maxZoom: this.maxZoom, features }));
  }
}

/** Returns whether the geometry is an area. */
export const isPolygon = ({ type }: Geometry): boolean => type === 'Polygon' || type === 'MultiPolygon';
/** Returns whether the geometry is one line. */
export const isLine = ({ type }: Geometry): boolean => type === 'LineString';

/** Returns the point of a label: of an area the pole of inaccessibility of its largest part. */
export function pointOf(geometry: Geometry): Geometry {
  const parts = partsOf(geometry);
  if (parts.length === 0) return geometry;
  const [largest] = parts.toSorted((a, b) => ringArea(b[0]!) - ringArea(a[0]!));
  return { type: 'Point', coordinates: labelPoint(largest!) };
}

function partsOf(geometry: Geometry): Position[][][] {
  if (geometry.type === 'Polygon') return [geometry.coordinates];
  return geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
}

/** Returns the area of the outer rings in square metres. */
export const areaM2 = (geometry: Geometry): number =>
  partsOf(geometry).reduce((sum, [outer]) => sum + ringArea(outer!), 0);

const metresPerDegree = 111_195;

function ringArea(ring: readonly Position[]): number {
  let sum = 0;
  for (let i = 1; i < ring.length; i++) {
    const [[ax, ay], [bx, by]] = [ring[i - 1]!, ring[i]!] as [Position, Position];
    sum += ax! * by! - bx! * ay!;
  }
  return (Math.abs(sum) / 2) * metresPerDegree ** 2 * Math.cos((ring[0]![1]! * Math.PI) / 180);
}

/** Returns the zoom from which an area of this many square metres is worth a label: a quarter of a thousand pixels. */
export function zoomOfArea(area: number, from: number, to: number): number {
  const zoom = 16 - Math.log2(Math.sqrt(area) / 30);
  return Math.min(to, Math.max(from, Math.round(zoom)));
}

/** Returns the first of these tags that a feature has, as `[key, value]`. */
export function firstTag(tags: Tags, keys: readonly string[]): readonly [string, string] | undefined {
  const key = keys.find((name) => tags[name] !== undefined && tags[name] !== 'no');
  return key === undefined ? undefined : [key, tags[key]!];
}

/** Returns whether a tag is set to anything but `no`. */
export const isYes = (value: string | undefined): boolean => value !== undefined && value !== 'no';
/** Returns true, or undefined, which is left out. */
export const flag = (value: boolean): true | undefined => value || undefined;
