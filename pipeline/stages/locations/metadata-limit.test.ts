import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleEvent, exampleEventBeacon, exampleEventGeofence } from '../../../schemas/testing/examples.js';
import { beyondLimit, limitMetadata } from './metadata-limit.js';

const sizes = fc.array(fc.nat(50), { maxLength: 30 });

test('those with the least metadata have theirs, and together no more than the limit', () => {
  fc.assert(
    fc.property(sizes, fc.nat(600), (characters, limit) => {
      const beyond = beyondLimit(characters, limit);
      const kept = characters.filter((_, index) => !beyond.has(index));
      const omitted = characters.filter((_, index) => beyond.has(index));
      const total = kept.reduce((sum, each) => sum + each, 0);
      expect(total).toBeLessThanOrEqual(limit);
      expect(Math.max(0, ...kept)).toBeLessThanOrEqual(Math.min(50, ...omitted));
      // None is left out without need.
      if (omitted.length > 0) expect(total + Math.min(...omitted)).toBeGreaterThan(limit);
    }),
  );
});

test('every event with its fair share or less has its metadata', () => {
  fc.assert(
    fc.property(sizes, fc.nat(600), (characters, limit) => {
      const beyond = beyondLimit(characters, limit);
      for (const index of beyond) expect(characters[index]! * characters.length).toBeGreaterThan(limit);
    }),
  );
});

test('what does not fit is left out of the user and of the geofence or beacon, and the event says so', () => {
  const profile = JSON.stringify({ installId: 'i', metadata: { plan: 'gold' } });
  const user = { id: null, userId: 'ann', deviceId: 'phone', profile };
  const metadata = JSON.stringify({ filler: 'x'.repeat(100) });
  const large = exampleEvent({ user, geofence: exampleEventGeofence({ metadata }) });
  const ofBeacon = exampleEvent({ user, geofence: null, beacon: exampleEventBeacon({ metadata }) });
  const small = exampleEvent({ user });
  const events = [large, ofBeacon, small];
  expect(limitMetadata(events, 1_000)).toBe(events);
  const bareUser = { ...user, profile: '{"installId":"i"}' };
  expect(limitMetadata(events, 2 * profile.length)).toEqual([
    { ...large, user: bareUser, geofence: exampleEventGeofence(), metadataOmitted: true },
    { ...ofBeacon, user: bareUser, beacon: exampleEventBeacon(), metadataOmitted: true },
    small,
  ]);
});
