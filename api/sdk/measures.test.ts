import { expect, test } from 'vitest';
import { shownDistance, shownDuration } from './measures.js';

test.each([
  [0, 'metric', '0 m'],
  [999.4, 'metric', '999 m'],
  [999.5, 'metric', '1.0 km'],
  [12_345, 'metric', '12.3 km'],
  [100, 'imperial', '328 ft'],
  [5_624.6, 'imperial', '3.5 mi'],
] as const)('%d metres in %s units are %s', (distanceM, units, text) => {
  expect(shownDistance(distanceM, units).text).toBe(text);
});

test('imperial values are feet, as the fixture of the SDKs has them', () => {
  expect(shownDistance(5_624.6, 'imperial').value).toBeCloseTo(18_453.4, 1);
});

test.each([
  [0, '0 mins'],
  [40, '1 min'],
  [660, '11 mins'],
  [3_600, '1 hr'],
  [8_520, '2 hrs 22 mins'],
  [3_660, '1 hr 1 min'],
])('%d seconds are %s', (durationS, text) => {
  expect(shownDuration(durationS)).toEqual({ value: durationS / 60, text });
});
