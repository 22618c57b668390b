/** Geofences and beacons as the map keeps them: little of each, because there may be 200,000. Pure. */
import RBush from 'rbush';
import type { Beacon, Geofence, Outline } from '../../client/types';
import { circleRing } from '../forms/geofence';
import { distanceM, type Position } from './shape';

export type PlaceKind = 'geofence' | 'beacon';
/** Names a place: ids of geofences and beacons are apart. */
export interface PlaceName {
  readonly kind: PlaceKind;
  readonly id: string;
}

/** What the map knows of a geofence or beacon. */
export interface Place extends PlaceName {
  readonly description: string;
  readonly tag: string;
  readonly externalId: string;
  readonly address: string | undefined;
  readonly enabled: boolean;
  readonly centre: Position;
  /** Metres that it reaches from its centre; 0 for beacons. */
  readonly reachM: number;
  /** Undefined: a circle, or a beacon. */
  readonly ring: readonly Position[] | undefined;
}

/** Returns what the map keeps of a geofence. */
export function placeOfGeofence(geofence: Geofence): Place {
  const centre: Position = geofence.geometryCenter.coordinates;
  // The API draws circles as polygons, for clients that know nothing else.
  const ring = geofence.type === 'circle' ? undefined : geofence.geometry?.coordinates[0];
  return {
    kind: 'geofence',
    id: geofence._id,
    description: geofence.description,
    tag: geofence.tag,
    externalId: geofence.externalId,
    address: geofence.address,
    enabled: geofence.enabled,
    centre,
    // The radius of an isochrone is minutes, and a polygon of a file has none.
    reachM:
      geofence.type === 'isochrone' || geofence.geometryRadius === 0 ? reachOf(centre, ring) : geofence.geometryRadius,
    ring,
  };
}

/** Returns what the map keeps of a beacon; undefined if it has no position. */
export function placeOfBeacon(beacon: Beacon): Place | undefined {
  if (beacon.geometry === undefined) return undefined;
  return {
    kind: 'beacon',
    id: beacon._id,
    description: beacon.description,
    tag: beacon.tag ?? '',
    externalId: beacon.externalId ?? '',
    address: undefined,
    enabled: beacon.enabled ?? true,
    centre: beacon.geometry.coordinates,
    reachM: 0,
    ring: undefined,
  };
}

/** Returns what the map keeps of an outline. */
export function placeOfOutline(kind: PlaceKind, { _id, center, radius, ring, ...rest }: Outline): Place {
  const { description, tag = '', externalId = '', address, enabled } = rest;
  const names = { kind, id: _id, description, tag, externalId, address, enabled };
  return { ...names, centre: center, reachM: radius ?? reachOf(center, ring), ring };
}

const reachOf = (centre: Position, ring: readonly Position[] = []): number =>
  ring.reduce((reach, point) => Math.max(reach, distanceM(centre, point)), 0);

/** Returns the outline of a place; around a circle, a polygon. */
export const ringOfPlace = ({ ring, centre, reachM }: Place): readonly Position[] => ring ?? circleRing(centre, reachM);

/** What of the places is shown. */
export interface Layers {
  readonly geofences: boolean;
  readonly beacons: boolean;
  readonly disabled: boolean;
  /** Tags that are hidden. A tag without a colour of its own is hidden with {@link otherTags}. */
  readonly hiddenTags: readonly string[];
  readonly colourBy: 'kind' | 'tag';
}

/** Shows everything, in the colours of kinds. */
export const allLayers: Layers = { geofences: true, beacons: true, disabled: true, hiddenTags: [], colourBy: 'kind' };

/** Stands for all tags without a colour of their own. No tag is empty. */
export const otherTags = '';
/** So many tags have a colour of their own: more colours could not be told apart. */
export const maxColouredTags = 7;

export interface TagCount {
  readonly tag: string;
  readonly count: number;
}

/** Returns the most frequent tags, and all others as one. */
export function tagCounts(places: Iterable<Place>): readonly TagCount[] {
  const counts = new Map<string, number>();
  for (const { tag } of places) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const sorted = [...counts].map(([tag, count]) => ({ tag, count }));
  sorted.sort((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1));
  const coloured = sorted.filter(({ tag }) => tag !== otherTags).slice(0, maxColouredTags);
  const rest = [...counts.values()].reduce((sum, count) => sum + count, 0) - coloured.reduce((s, c) => s + c.count, 0);
  return rest === 0 ? coloured : [...coloured, { tag: otherTags, count: rest }];
}

/** Returns the number of the colour of a tag, by its place among the tags. */
export const colourNumber = (tag: string, index: number): number => (tag === otherTags ? maxColouredTags : index);

/** Returns a function that gives the number of a place's colour: that of its kind, or of its tag. */
export function colourNumbers({ colourBy }: Layers, tags: readonly TagCount[]): (place: Place) => number {
  if (colourBy === 'kind') return ({ kind }) => (kind === 'geofence' ? 0 : 1);
  const numbers = new Map(tags.map(({ tag }, index) => [tag, colourNumber(tag, index)]));
  return ({ tag }) => numbers.get(tag) ?? maxColouredTags;
}

/** Returns a function that tests whether a place is shown. */
export function shownBy(layers: Layers, tags: readonly TagCount[]): (place: Place) => boolean {
  const coloured = new Set(tags.map(({ tag }) => tag));
  const hidden = new Set(layers.hiddenTags);
  return ({ kind, enabled, tag }) =>
    (kind === 'geofence' ? layers.geofences : layers.beacons) &&
    (enabled || layers.disabled) &&
    !hidden.has(coloured.has(tag) ? tag : otherTags);
}

/** Tests whether each word is in one of the place's names. */
function matches(place: Place, words: readonly string[]): boolean {
  const { description, tag, externalId, address = '' } = place;
  const text = `${description}\n${tag}\n${externalId}\n${address}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Returns at most `limit` places that match all words of the text, geofences first. */
export function searchPlaces(text: string, places: Iterable<Place>, limit: number): readonly Place[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Place[] = [];
  if (words.length === 0) return found;
  for (const place of places) {
    if (!matches(place, words)) continue;
    found.push(place);
    if (found.length === limit) break;
  }
  return found;
}

/** Degrees: west, south, east, north. East may be beyond 180. */
export type Bounds = readonly [number, number, number, number];

/** Returns the bounds with half of their size on each side, so that a small move of the map shows nothing new. */
export function widened([west, south, east, north]: Bounds): Bounds {
  const [x, y] = [(east - west) / 2, (north - south) / 2];
  return [west - x, south - y, east + x, north + y];
}

/** Tests whether the first bounds contain the second ones. */
export const covers = ([west, south, east, north]: Bounds, within: Bounds): boolean =>
  within[0] >= west && within[1] >= south && within[2] <= east && within[3] <= north;

const metresPerDegree = 111_195;

interface Boxed {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly place: Place;
}

function boxed(place: Place): Boxed {
  const [x, y] = place.centre;
  const reach = place.reachM / metresPerDegree;
  const wide = reach / Math.max(0.01, Math.cos(((Math.abs(y) + reach) * Math.PI) / 180));
  return { minX: x - wide, minY: y - reach, maxX: x + wide, maxY: y + reach, place };
}

/** Returns two corners of the box around a place. */
export function cornersOf(place: Place): readonly [Position, Position] {
  const { minX, minY, maxX, maxY } = boxed(place);
  return [
    [minX, minY],
    [maxX, maxY],
  ];
}

/** The places of a map, by id and by where they are. */
export class PlaceIndex {
  readonly byId = new Map<string, Place>();
  readonly #boxes = new Map<string, Boxed>();
  readonly #tree = new RBush<Boxed>();

  put(places: readonly Place[]): void {
    for (const { id } of places) this.drop(id);
    const boxes = places.map(boxed);
    this.#tree.load(boxes);
    for (const box of boxes) {
      this.byId.set(box.place.id, box.place);
      this.#boxes.set(box.place.id, box);
    }
  }

  drop(id: string): void {
    const box = this.#boxes.get(id);
    if (box === undefined) return;
    this.#tree.remove(box);
    this.#boxes.delete(id);
    this.byId.delete(id);
  }

  clear(): void {
    this.#tree.clear();
    this.#boxes.clear();
    this.byId.clear();
  }

  /** Returns at most `limit` places that may be within the bounds, and whether there are more. */
  within(
    [west, south, east, north]: Bounds,
    isShown: (place: Place) => boolean,
    limit: number,
  ): { readonly within: readonly Place[]; readonly hasMore: boolean } {
    const found = new Set<Place>();
    // The view may have been dragged over the antimeridian.
    for (const turn of [-360, 0, 360]) {
      const boxes = this.#tree.search({ minX: west - turn, minY: south, maxX: east - turn, maxY: north });
      for (const { place } of boxes) {
        if (!isShown(place)) continue;
        if (found.size === limit && !found.has(place)) return { within: [...found], hasMore: true };
        found.add(place);
      }
    }
    return { within: [...found], hasMore: false };
  }

  /** Returns at most `limit` places that may be within the bounds, the largest, and how many there are in all. */
  largestWithin(
    bounds: Bounds,
    isShown: (place: Place) => boolean,
    limit: number,
  ): { readonly largest: readonly Place[]; readonly total: number } {
    const { within } = this.within(bounds, isShown, Number.POSITIVE_INFINITY);
    // Ids are random: of places of one size, those that are left out are not all in one corner.
    const sorted = within.toSorted((one, other) => other.reachM - one.reachM || (one.id < other.id ? -1 : 1));
    return { largest: sorted.slice(0, limit), total: within.length };
  }
}
