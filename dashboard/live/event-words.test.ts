import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../client/types';
import { distanceText, durationText, eventTitle, lagText } from './event-words';

test('names durations, delays and distances', () => {
  expect([0, 0.5, 1, 59, 64.6, 125, 2_879, 2_880].map(durationText)).toEqual([
    ...['0 s', '30 s', '1 min', '59 min', '1 h 5 min', '2 h 5 min', '47 h 59 min', '2 days'],
  ]);
  expect([850, 2_449, 90_000].map(lagText)).toEqual(['850 ms', '2.4 s', '2 min']);
  expect([2.04, 40, 230.4, 3_449].map(distanceText)).toEqual(['2.0 m', '40 m', '230 m', '3.4 km']);
});

// The title was a function, because each object has a constructor.
test('a conversion named constructor has its own name as its title', () => {
  expect(eventTitle({ type: 'constructor' } as Event)).toBe('constructor');
});

// A visit of 119.7 minutes had lasted "1 h 60 min", and one of 59.6 minutes "60 min": the unit was chosen first.
test('no duration or distance has a whole larger unit left over', () => {
  expect([0.995, 59.6, 119.7, 2_879.6].map(durationText)).toEqual(['1 min', '1 h 0 min', '2 h 0 min', '2 days']);
  expect([999.6, 59_960].map(lagText)).toEqual(['1.0 s', '1 min']);
  expect([9.96, 999.6].map(distanceText)).toEqual(['10 m', '1.0 km']);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 5_000, noNaN: true }), (minutes) => {
      for (const text of [durationText(minutes), lagText(minutes * 60_000)]) expect(text).not.toMatch(/\b60(\.0)? /);
    }),
  );
});
