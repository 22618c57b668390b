import { expect, test } from 'vitest';
import { countryRank, countryRanks, microstateZoom } from './country-ranks.js';

test('every country has one position and one first zoom', () => {
  expect(new Set(countryRanks.map(({ region }) => region)).size).toBe(countryRanks.length);
  for (const [position, { region, minZoom, rank, ...country }] of countryRanks.entries()) {
    expect(new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }).of(region)).toBeDefined();
    expect(country.position).toBe(position);
    expect([0, 1, 2, 3, 4, microstateZoom]).toContain(minZoom);
    expect(rank).toBeGreaterThanOrEqual(countryRanks[position - 1]?.rank ?? 1);
  }
});

test.each([
  ['FR', 1],
  ['GB', 1],
  ['DE', 1],
  ['CH', 3],
  ['MC', microstateZoom],
  ['AD', microstateZoom],
])('the name of %s starts at zoom %i', (region, minZoom) => {
  expect(countryRank(region).minZoom).toBe(minZoom);
});

test('a country without a rank comes last', () => {
  expect(countryRank('XX')).toMatchObject({ position: countryRanks.length, rank: 6, minZoom: microstateZoom });
});
