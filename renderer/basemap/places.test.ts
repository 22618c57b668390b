import fc from 'fast-check';
import { expect, test } from 'vitest';
import { worldPixel } from '../view/projection.js';
import type { City, CityNames } from './packages.js';
import { placeLabels } from './places.js';

const city = fc.record({
  cityId: fc.nat(),
  name: fc.string({ minLength: 1, maxLength: 5 }),
  country: fc.constant('XX'),
  featureCode: fc.constantFrom('PPL', 'PPLA', 'PPLC', 'PPLX', 'PPLH'),
  population: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 20_000_000 })),
  // Close together, so that there is something to choose.
  loc: fc.record({
    coordinates: fc.tuple(fc.double({ min: 5, max: 9, noNaN: true }), fc.double({ min: 45, max: 48, noNaN: true })),
  }),
});
const cities = fc.uniqueArray(city, { minLength: 1, maxLength: 60, selector: ({ cityId }) => cityId });

const noNames = new Map<number, CityNames>();

const minZoom = (label: ReturnType<typeof placeLabels>[number]): number => label.properties!.min_zoom;

function squareOf(label: ReturnType<typeof placeLabels>[number], zoom: number): string {
  const [x, y] = worldPixel(label.geometry.coordinates as [number, number], zoom);
  return `${Math.floor(x / 64)},${Math.floor(y / 64)}`;
}

test('each square of 64 pixels shows at most one place per zoom, and places remain at higher zooms', () => {
  fc.assert(
    fc.property(cities, (all: readonly City[]) => {
      // Capitals are shown in any case.
      const labels = placeLabels(all, noNames).filter(({ properties }) => !properties!.capital);
      for (let zoom = 0; zoom < 11; zoom++) {
        const squares = labels.filter((label) => minZoom(label) <= zoom).map((label) => squareOf(label, zoom));
        expect(new Set(squares).size).toBe(squares.length);
      }
      for (const label of labels) expect(minZoom(label)).toBeLessThanOrEqual(11);
    }),
  );
});

test('a late part of a city does not take the square of an early village', () => {
  const at = { name: ' ', country: 'XX', population: 0, loc: { coordinates: [6.7236328125, 45] as [number, number] } };
  const labels = placeLabels(
    [
      { ...at, cityId: 0, featureCode: 'PPLX' },
      { ...at, cityId: 1, featureCode: 'PPL' },
    ],
    noNames,
  );
  expect(labels.map((label) => [label.properties!.class, minZoom(label)])).toEqual([
    ['village', 7],
    ['suburb', 11],
  ]);
});

test('a place is delayed only by its size, its kind, or a more important place in its square', () => {
  fc.assert(
    fc.property(cities, (all: readonly City[]) => {
      const labels = placeLabels(all, noNames);
      for (const [i, label] of labels.entries()) {
        const zoom = minZoom(label) - 1;
        if (zoom < 7 || label.properties!.class === 'suburb') continue;
        const rivals = labels
          .slice(0, i)
          .filter((other) => minZoom(other) <= zoom && squareOf(other, zoom) === squareOf(label, zoom));
        expect(rivals).not.toEqual([]);
      }
    }),
  );
});

/** All at the same place. */
const at = (cityId: number, featureCode: string, population: number): City => ({
  cityId,
  name: featureCode,
  country: 'XX',
  featureCode,
  population,
  loc: { coordinates: [7, 47] },
});

test('capitals start at zoom 3, parts of cities at 10, and former places are never shown', () => {
  const labels = placeLabels(
    [at(1, 'PPL', 9_000_000), at(2, 'PPLC', 900), at(3, 'PPLX', 90_000), at(4, 'PPLH', 1)],
    noNames,
  );
  expect(labels.map(({ properties }) => properties)).toEqual([
    { name: 'PPL', class: 'city', rank: 3, order: 205, min_zoom: 2 },
    { name: 'PPLC', class: 'village', rank: 4, order: 270, min_zoom: 3, capital: true },
    { name: 'PPLX', class: 'suburb', rank: 7, order: 370, min_zoom: 11 },
  ]);
});

test('a large quarter waits for the village in its square', () => {
  const labels = placeLabels([at(1, 'PPLX', 90_000), at(2, 'PPL', 900)], noNames);
  expect(labels.map(({ properties }) => [properties!.name, properties!.min_zoom])).toEqual([
    ['PPL', 7],
    ['PPLX', 11],
  ]);
});

test('a city that many languages name comes before a larger district that none names', () => {
  const names = new Map([[1, { renown: 80, names: new Map([['en', 'Geneva']]) }]]);
  const labels = placeLabels([at(1, 'PPLA', 180_000), at(2, 'PPL', 900_000)], names);
  expect(labels.map(({ properties }) => properties!.name)).toEqual(['Geneva', 'PPL']);
});

test('the seat of a province is no district, although few languages name it', () => {
  const renown = (languages: number) => ({ renown: languages, names: new Map([['en', 'x']]) });
  const names = new Map([
    [1, renown(3)],
    [2, renown(20)],
    [3, renown(2)],
  ]);
  const [seat, city, district] = [at(1, 'PPLA', 1_190_000), at(2, 'PPL', 470_000), at(3, 'PPLA', 1_190_000)];
  const places = placeLabels([district, city, seat], names);
  expect(places.map(({ properties }) => properties!.rank)).toEqual([3, 4, 5]);
  expect(minZoom(places[0]!)).toBeLessThan(minZoom(places[1]!));
});

test('a name is printed in the language of its country, and English is the other one', () => {
  const translated = new Map([
    ['en', 'Munich'],
    ['de', 'München'],
    ['it', 'Monaco di Baviera'],
  ]);
  const munich = { ...at(1, 'PPLA', 1_000_000), country: 'DE' };
  const [label] = placeLabels([munich], new Map([[1, { renown: 90, names: translated }]]));
  expect(label!.properties).toMatchObject({ name: 'München', 'name:en': 'Munich', 'name:it': 'Monaco di Baviera' });
});
