import { expect, test } from 'vitest';
import { builtInStyles } from './names.js';
import type { Palette } from './palette.js';
import { palettes } from './palettes/palettes.js';
import { type RoadClass, roadClasses } from './schema.js';

/** Returns the relative luminance of `#rrggbb` as WCAG 2 defines it, 0 to 1. */
function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns the contrast ratio of WCAG 2, from 1 for equal luminances to 21. */
function contrast(a: string, b: string): number {
  const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#a3cfe6', '#a3cfe6')).toBe(1);
});

type Pair = readonly [what: string, a: string, b: string];

/** Ground on which buildings stand. */
const grounds = (p: Palette): Pair[] => [
  ['land', p.land, ''],
  ...(['residential', 'commercial', 'industrial', 'education', 'hospital', 'railway', 'pedestrian'] as const).map(
    (name): Pair => [name, p.areas[name], ''],
  ),
];
const against = (under: Pair[], what: string, color: string): Pair[] =>
  under.map(([name, ground]) => [`${what} on ${name}`, color, ground]);
const roadsOf = (names: readonly RoadClass[], pairs: (name: RoadClass) => Pair[]): Pair[] => names.flatMap(pairs);

const paths: readonly RoadClass[] = ['path', 'track'];
const streets = roadClasses.filter((name) => !paths.includes(name));
const greens = ['park', 'wood', 'pitch'] as const;

/** Layers that touch, with the least contrast between them in every style. */
const rules: readonly (readonly [what: string, least: number, pairs: (palette: Palette) => Pair[]])[] = [
  ['buildings stand out from the ground', 1.12, (p) => against(grounds(p), 'building', p.building)],
  ['buildings stand out from each other', 1.2, (p) => [['edge', p.buildingEdge, p.building]]],
  ['water stands out from the ground', 1.3, (p) => against(grounds(p).slice(0, 2), 'water', p.water)],
  ['water stands out from green', 1.05, (p) => greens.slice(0, 2).map((name) => [name, p.water, p.areas[name]])],
  ['parks and woods stand out', 1.12, (p) => greens.map((name) => [name, p.areas[name], p.land])],
  [
    'streets stand out from their casings',
    1.35,
    (p) => roadsOf(streets, (name) => [[name, p.roads[name].fill, p.roads[name].casing]]),
  ],
  [
    'streets stand out from buildings',
    1.3,
    (p) => roadsOf(['minor', 'service', 'pedestrian'], (name) => [[name, p.roads[name].fill, p.building]]),
  ],
  [
    'streets with their casings stand out from the ground',
    1.3,
    (p) =>
      roadsOf(streets, (name) => {
        const { fill, casing } = p.roads[name];
        const color = contrast(fill, p.land) > contrast(casing, p.land) ? fill : casing;
        return [[name, color, p.land]];
      }),
  ],
  ['distant roads stand out from the ground', 1.35, (p) => [['road', p.distantRoad, p.land]]],
  ['names are readable above distant roads', 4, (p) => [['city', p.labels.city.text, p.distantRoad]]],
  ['paths stand out from the ground', 1.5, (p) => roadsOf(paths, (name) => [[name, p.roads[name].fill, p.land]])],
  ['rails stand out from the ground', 1.5, (p) => [['rail', p.rail, p.areas.railway]]],
  ['ferries stand out from water', 1.4, (p) => [['ferry', p.ferry, p.water]]],
  ['borders stand out from the ground', 2.5, (p) => [['country', p.border, p.land]]],
  ['borders of states stand out from the ground', 1.8, (p) => [['state', p.stateBorder, p.land]]],
  [
    'names are readable',
    4.5,
    ({ labels: { country, city, place, road, water } }) =>
      Object.entries({ country, city, place, road, water }).map(([name, { text, halo }]) => [name, text, halo]),
  ],
  [
    'small print is readable',
    3.5,
    ({ labels: { state, houseNumber } }) =>
      Object.entries({ state, houseNumber }).map(([name, { text, halo }]) => [name, text, halo]),
  ],
  [
    'names of places of interest are readable',
    4.5,
    ({ labels: { pois } }) => Object.entries(pois).map(([name, { text, halo }]) => [name, text, halo]),
  ],
  [
    'halos separate names from what is below',
    3.5,
    (p) => [
      ['road name on a street', p.labels.road.text, p.roads.minor.fill],
      ['road name on a building', p.labels.road.text, p.building],
      ['place on the ground', p.labels.place.text, p.areas.residential],
      ['name in water', p.labels.water.text, p.water],
    ],
  ],
  [
    'references are readable on their shields',
    4.5,
    ({ shields }) => Object.entries(shields).map(([name, { text, fill }]) => [name, text, fill]),
  ],
  [
    'shields stand out by their border or their plate',
    1.8,
    (p) =>
      Object.entries(p.shields).map(([name, { fill, border }]) => {
        const ground = p.land;
        return [name, contrast(fill, ground) > contrast(border, ground) ? fill : border, ground];
      }),
  ],
];

test.each(builtInStyles.flatMap((name) => rules.map(([what, least, pairs]) => [name, what, least, pairs] as const)))(
  '%s: %s, by %d at least',
  (name, _what, least, pairs) => {
    const tooLow = pairs(palettes[name])
      .map(([what, a, b]) => ({ what, contrast: contrast(a, b) }))
      .filter((pair) => pair.contrast < least);
    expect(tooLow).toEqual([]);
  },
);

test('larger roads differ more from the ground than streets', () => {
  for (const { roads, land } of Object.values(palettes)) {
    const order = (['minor', 'primary', 'motorway'] as const).map((name) =>
      Math.max(contrast(roads[name].fill, land), contrast(roads[name].casing, land)),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
});
