/** Numbers and places of analytics in words. */

/** Returns for example "45 s", "12 min" or "3 h 20 min". */
export function minutesText(minutes: number | undefined): string {
  if (minutes === undefined) return '–';
  const seconds = Math.round(minutes * 60);
  if (seconds < 60) return `${seconds} s`;
  const whole = Math.round(minutes);
  if (whole < 100) return `${minutes < 10 ? Number(minutes.toFixed(1)) : whole} min`;
  const [hours, rest] = [Math.floor(whole / 60), whole % 60];
  if (hours >= 48) return `${Number((hours / 24).toFixed(1))} days`;
  return rest === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${rest} min`;
}

const boundText = (minutes: number): string =>
  minutes % 1_440 === 0 ? `${minutes / 1_440} d` : minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;

/** Returns the names of a histogram's buckets: below the first bound, between two, and from the last on. */
export function bucketNames(bounds: readonly number[]): string[] {
  const range = (low: number, high: number) => {
    const [from, to] = [boundText(low), boundText(high)];
    const [fromUnit, toUnit] = [from.split(' ')[1], to.split(' ')[1]];
    return `${fromUnit === toUnit ? from.split(' ')[0] : from}–${to}`;
  };
  return [
    `< ${boundText(bounds[0] ?? 0)}`,
    ...bounds.slice(1).map((high, index) => range(bounds[index]!, high)),
    `≥ ${boundText(bounds.at(-1) ?? 0)}`,
  ];
}

/** The names that a row of analytics has of its place. */
export interface PlaceNames {
  readonly description?: string | undefined;
  readonly tag?: string | undefined;
  readonly externalId?: string | undefined;
  readonly geofence?: string | undefined;
  readonly beacon?: string | undefined;
}

/** Returns the `_id` of a place. */
export const placeId = ({ geofence, beacon }: PlaceNames): string => geofence ?? beacon ?? '';

/** Returns the name of a place in one line: its description, or, when it is deleted, its external id or `_id`. */
export const placeName = ({ description, externalId, geofence, beacon }: PlaceNames): string =>
  description ?? externalId ?? geofence ?? beacon ?? '–';

/** Returns the names of places by `_id`. Those that share a description have their external ids too. */
export function distinctNames(places: Iterable<PlaceNames>): ReadonlyMap<string, string> {
  const byId = new Map([...places].map((place) => [placeId(place), place]));
  const counts = new Map<string, number>();
  for (const place of byId.values()) counts.set(placeName(place), (counts.get(placeName(place)) ?? 0) + 1);
  const nameOf = (place: PlaceNames): string => {
    const name = placeName(place);
    const isShared = counts.get(name)! > 1 && place.externalId !== undefined && place.externalId !== name;
    return isShared ? `${name} (${place.externalId})` : name;
  };
  return new Map([...byId].map(([id, place]) => [id, nameOf(place)]));
}

/** Returns the share as a percentage. */
export const shareText = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Number(((100 * part) / whole).toFixed(1))} %`;
