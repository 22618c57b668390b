/** Geofences and beacons as the map keeps them: little of each, because there may be 200,000. Pure. */
import type { Beacon, Geofence } from '../../client/types';
import { circleRing } from '../forms/geofence';
import { distanceM, type Position } from './shape';

export type PlaceKind = 'geofence' | 'beacon';
export interface PlaceName {
  readonly kind: PlaceKind;
  readonly id: string;
}

export interface Place extends PlaceName {
  readonly description: string;
  readonly tag: string;
  readonly externalId: string;
  readonly address: string | undefined;
  readonly enabled: boolean;
  readonly centre: Position;
  /** How far it reaches from its centre; 0 for beacons. */
  readonly reachM: number;
  /** Undefined: a circle, or a beacon. */
  readonly ring: readonly Position[] | undefined;
}

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
      geofence.type === 'isochrone' || geofence.geometryRadius === 0
        ? Math.max(0, ...(ring ?? []).map((point) => distanceM(centre, point)))
        : geofence.geometryRadius,
    ring,
  };
}

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
export function matches(place: Place, words: readonly string[]): boolean {
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

const metresPerDegree = 111_195;

/** Returns at most `limit` places that may be within the bounds, and whether there are more. */
export function placesWithin(
  places: Iterable<Place>,
  [west, south, east, north]: Bounds,
  isShown: (place: Place) => boolean,
  limit: number,
): { readonly within: readonly Place[]; readonly hasMore: boolean } {
  const within: Place[] = [];
  const squeeze = Math.max(0.01, Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180));
  for (const place of places) {
    const reach = place.reachM / metresPerDegree;
    const [longitude, latitude] = place.centre;
    if (latitude + reach < south || latitude - reach > north) continue;
    const wide = reach / squeeze;
    // The view may have been dragged over the antimeridian.
    const isWithin = [-360, 0, 360].some((turn) => longitude + turn + wide >= west && longitude + turn - wide <= east);
    if (!isWithin || !isShown(place)) continue;
    if (within.length === limit) return { within, hasMore: true };
    within.push(place);
  }
  return { within, hasMore: false };
}
