/**
 * Uploaded styles have any metadata. Once, an array of another shape ended a drawing, and a text as the most moves had
 * no limit.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  areaAround,
  mostMoves,
  movesOthers,
  placementHintsOf,
  repeatDistance,
  reservesSpace,
} from './placement-hints.js';

const none = placementHintsOf(undefined);

test('entries of the built-in styles are read', () => {
  const area = { sourceLayer: 'landuse', only: { key: 'kind', values: ['park'] }, isMiddle: true, minPx2: 600 };
  const metadata = {
    [reservesSpace]: true,
    [movesOthers]: true,
    [mostMoves]: 40,
    [repeatDistance]: { px: 100, zoom: 16 },
    [areaAround]: area,
  };
  expect(placementHintsOf(metadata)).toEqual({
    ...none,
    reservesSpace: true,
    movesOthers: true,
    mostMoves: 40,
    repeatDistance: { px: 100, zoom: 16 },
    areaAround: area,
  });
});

test.each([
  ['text', 'text'],
  ['an array', [areaAround]],
  ['null', null],
  ['flags that are not true', { [reservesSpace]: 1, [movesOthers]: 'true' }],
  ['moves as text', { [mostMoves]: 'all' }],
  ['less than no moves', { [mostMoves]: -1 }],
  ['an infinite distance', { [repeatDistance]: { px: Infinity } }],
  ['a distance at no zoom', { [repeatDistance]: { px: 1, zoom: 'x' } }],
  ['areas without a layer', { [areaAround]: { minPx2: 1 } }],
  ['areas of one value', { [areaAround]: { sourceLayer: 'a', minPx2: 1, only: { key: 'kind', values: 5 } } }],
  ['areas without a size', { [areaAround]: { sourceLayer: 'a' } }],
])('%s is as no entry', (_, metadata) => {
  expect(placementHintsOf(metadata)).toEqual(none);
});

test('any JSON can be read', () => {
  const names = fc.constantFrom(reservesSpace, movesOthers, mostMoves, repeatDistance, areaAround);
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue())), (metadata) => {
      const { mostMoves: moves, areaAround: area } = placementHintsOf(metadata);
      expect(moves === undefined || moves >= 0).toBe(true);
      expect(area === undefined || area.minPx2 >= 0).toBe(true);
    }),
  );
});
