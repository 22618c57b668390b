/** What a workload is: its fences, and the places among which its fleet moves. */
import type { Position } from '../../schemas/json/common.js';
import { createRandom, type Random } from '../../schemas/random.js';

/** A circle, or a polygon whose extent is about the radius. */
export interface Fence {
  /** From 0, without gaps. */
  readonly number: number;
  readonly center: Position;
  readonly radiusM: number;
  /** A closed ring that never crosses itself, or null for a circle. */
  readonly ring: readonly Position[] | null;
}

/** Fences and devices lie around its centre, normally distributed. */
export interface Place {
  readonly center: Position;
  /** The standard deviation in metres, in each direction. */
  readonly spreadM: number;
  /** The share of all fences and devices; the shares of all places add up to 1. */
  readonly share: number;
}

/** Fences and a fleet of a certain kind. */
export interface Workload {
  readonly name: string;
  readonly about: string;
  /** The number of fences of a full run. */
  readonly fenceCount: number;
  /** Returns so many fences. The same seed gives the same fences, in the same order. */
  fences(count: number, seed: number): Iterable<Fence>;
  /** Returns the places among which the devices move. */
  places(fenceCount: number, seed: number): readonly Place[];
  /** Metres a second of the slowest and the fastest device. */
  readonly speedsMps: readonly [number, number];
}

const metresPerDegree = 111_195;

/** Returns the position so many metres east and north of another, on a sphere. Accurate to a percent within 100 km. */
export function offset([longitude, latitude]: Position, eastM: number, northM: number): Position {
  const wrapped = longitude + eastM / (metresPerDegree * Math.cos((latitude * Math.PI) / 180));
  return [((wrapped + 540) % 360) - 180, Math.max(-85, Math.min(85, latitude + northM / metresPerDegree))];
}

/** Returns a position near the place. */
const positionNear = ({ center, spreadM }: Place, random: Random): Position =>
  offset(center, spreadM * random.normal(), spreadM * random.normal());

/** Returns a function that picks a place, each with the probability of its share. */
export function placePicker(places: readonly Place[]): (random: Random) => number {
  let sum = 0;
  const upTo = Float64Array.from(places, ({ share }) => {
    sum += share;
    return sum;
  });
  return (random) => {
    const wanted = random.next() * sum;
    let low = 0;
    let high = places.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** Returns a function that draws a position near one of the places. */
export function positionPicker(places: readonly Place[]): (random: Random) => Position {
  const pick = placePicker(places);
  return (random) => positionNear(places[pick(random)]!, random);
}

/** Draws so many fences. The same seed gives the same fences. */
export function* drawFences(
  count: number,
  seed: number,
  draw: (random: Random) => Omit<Fence, 'number'>,
): Generator<Fence> {
  const random = createRandom(seed + 1);
  for (let number = 0; number < count; number++) yield { number, ...draw(random) };
}

/** Returns a number whose logarithm is uniform: as many between 10 and 100 as between 100 and 1,000. */
export const logUniform = (random: Random, low: number, high: number): number => low * (high / low) ** random.next();

/** Returns a closed star-shaped ring around a centre, which never crosses itself. Its corners reach 70 to 100 %. */
export function starRing(random: Random, center: Position, radiusM: number, vertices: number): Position[] {
  const ring = Array.from({ length: vertices }, (_, index) => {
    const angle = (2 * Math.PI * index) / vertices;
    const reachM = radiusM * random.between(0.7, 1);
    return offset(center, reachM * Math.cos(angle), reachM * Math.sin(angle));
  });
  return [...ring, ring[0] as Position];
}

/** Degrees: about the size of the contiguous United States. */
const country = { west: -122, east: -72, south: 28, north: 47 };
const fencesPerCity = 2_000;
const citySpreadM = 8_000;

/**
 * Returns cities in a country, one for each 2,000 fences. Some are ten times as large as others; all are equally dense,
 * so more fences mean more cities and not a denser city.
 */
export function cities(fenceCount: number, seed: number): Place[] {
  const random = createRandom(seed);
  const count = Math.max(1, Math.round(fenceCount / fencesPerCity));
  const sizes = Array.from({ length: count }, (_, index) => (index + 1) ** -0.5);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => ({
    center: [random.between(country.west, country.east), random.between(country.south, country.north)],
    spreadM: citySpreadM * Math.sqrt((size / total) * count),
    share: size / total,
  }));
}

/** Returns so many places of one size, anywhere within the country. */
export function regions(count: number, spreadM: number, seed: number): Place[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => ({
    center: [random.between(country.west, country.east), random.between(country.south, country.north)],
    spreadM,
    share: 1 / count,
  }));
}

/** Returns a uniform position within the country. */
export const positionInCountry = (random: Random): Position => [
  random.between(country.west, country.east),
  random.between(country.south, country.north),
];
