/** Builds style expressions from tables. Pure. */
import type { ExpressionSpecification } from '@maplibre/maplibre-gl-style-spec';
import { type CountryRank, countryRanks } from './country-ranks.js';
import type { Classified, Selected } from './schema.js';

/**
 * Types an expression that is built from data. The specification's type is too narrow, so this is the only place with a
 * cast.
 */
export function expression(...parts: readonly unknown[]): ExpressionSpecification {
  return parts as unknown as ExpressionSpecification;
}

/** Selects the features of a tile layer that a style layer draws. */
export function from({ sourceLayer, filter }: Selected, ...more: readonly ExpressionSpecification[]) {
  const conditions = [...(filter ? [filter] : []), ...more];
  return {
    source: 'map',
    'source-layer': sourceLayer,
    ...(conditions.length > 0 && {
      filter: conditions.length === 1 ? conditions[0]! : expression('all', ...conditions),
    }),
  };
}

/** Returns whether a feature has one of these classes. */
export function isOneOf<Class extends string>(
  { tag, values }: Classified<Class>,
  classes: readonly Class[],
): ExpressionSpecification {
  const wanted = classes.flatMap((name) => values[name] ?? []);
  return wanted.length === 0 ? expression('literal', false) : expression('match', tag, wanted, true, false);
}

/** Returns the value of a feature's class; the last value is the default. Classes with equal values share a branch. */
export function byClass<Class extends string, Value>(
  { tag, values }: Pick<Classified<Class>, 'tag' | 'values'>,
  valueFor: (name: Class) => Value,
  otherwise: Value,
): ExpressionSpecification | Value {
  const branches = new Map<Value, string[]>();
  for (const [name, tagged] of Object.entries(values) as [Class, readonly string[]][]) {
    const value = valueFor(name);
    if (value !== otherwise) branches.set(value, [...(branches.get(value) ?? []), ...tagged]);
  }
  if (branches.size === 0) return otherwise;
  return expression('match', tag, ...[...branches].flatMap(([value, tagged]) => [tagged, value]), otherwise);
}

/** Interpolates between values at whole zooms. */
export function byZoom(values: Readonly<Record<number, unknown>>, base = 1): ExpressionSpecification {
  const stops = Object.entries(values).flatMap(([zoom, value]) => [Number(zoom), value]);
  return expression('interpolate', base === 1 ? ['linear'] : ['exponential', base], ['zoom'], ...stops);
}

/** Languages of names that mappers add to what visitors know. Those of the place itself count as well. */
const visitorLanguages = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'zh'];

/** Counts languages in which a feature is named. It tells a cathedral from a chapel, where tiles have no rank. */
export const renown = expression('+', ...visitorLanguages.map((code) => ['case', ['has', `name:${code}`], 1, 0]));

/** Whether a railway is a yard, siding or spur. All schemas have this tag of OpenStreetMap under its own name. */
export const isSideTrack = expression('!=', ['to-string', ['get', 'service']], '');

/** Separators of a road's references, in the tags of OpenStreetMap and in tiles. */
const referenceSeparators = [';', '\n'];

/** Returns the first of a road's references; empty without one. */
export function firstReference(all: ExpressionSpecification): ExpressionSpecification {
  return referenceSeparators.reduce(upTo, expression('to-string', all));
}

/** Returns the first of a feature's names, which OpenStreetMap separates by `;`; empty without one. */
export const firstName = (all: ExpressionSpecification): ExpressionSpecification =>
  upTo(expression('to-string', all), ';');

/** Returns the text before the separator; all of it without one. */
function upTo(text: ExpressionSpecification, separator: string): ExpressionSpecification {
  const ended = ['concat', text, separator];
  return expression('let', 'all', ended, ['slice', ['var', 'all'], 0, ['index-of', separator, ['var', 'all']]]);
}

const population = ['to-number', ['get', 'population'], 0];

/** The rank of a place by its population, 1 to 10, like our basemap. */
export const rankOfPopulation = expression(
  'step',
  population,
  10,
  ...[2_000, 9, 10_000, 8, 20_000, 7, 50_000, 6, 100_000, 5, 200_000, 4, 500_000, 3, 1_000_000, 2, 5_000_000, 1],
);

/** Returns a value of each ranked country, by an expression of its two letters. */
export function byCountry(
  region: ExpressionSpecification,
  valueFor: (country: CountryRank) => number | string,
  otherwise: number | string,
): ExpressionSpecification {
  const regions = new Map<number | string, string[]>();
  for (const country of countryRanks) {
    const value = valueFor(country);
    regions.set(value, [...(regions.get(value) ?? []), country.region]);
  }
  return expression('match', region, ...[...regions].flatMap(([value, codes]) => [codes, value]), otherwise);
}

/** The sort key of a place by its population: larger places come first. */
export const orderOfPopulation = expression('-', 0, population);

const isMicrostate = expression('<', population, 120_000);

/** Countries of schemas that have their population. A country without one is not small. */
export const countriesByPopulation = {
  tag: expression('case', ['all', ['has', 'population'], isMicrostate], 'microstate', 'country'),
  values: { country: ['country'], microstate: ['microstate'] },
  rank: expression('step', population, ...[6, 500_000, 5, 4_000_000, 4, 10_000_000, 3, 30_000_000, 2, 120_000_000, 1]),
  order: orderOfPopulation,
  isCapital: expression('literal', false),
};
