import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type ComparedEvent, compareEvents } from './compare.js';

const toleranceMs = 2;
const users = ['ada', 'bob'];
const types = ['user.entered_geofence', 'user.exited_geofence', 'user.entered_place'];
const tags = ['store', 'depot'];

const eventsOf = (service: string) =>
  fc
    .array(fc.tuple(fc.nat(12), fc.constantFrom(...users), fc.constantFrom(...types), fc.constantFrom(...tags)), {
      maxLength: 9,
    })
    .map((rows) =>
      rows.map(
        ([atMs, userId, type, tag], index): ComparedEvent => ({
          _id: `${service}-${index}`,
          type,
          createdAt: new Date(atMs).toISOString(),
          user: { userId },
          geofence: { tag, externalId: '1' },
        }),
      ),
    );

const canMatch = (a: ComparedEvent, b: ComparedEvent): boolean =>
  a.type === b.type &&
  a.user?.userId === b.user?.userId &&
  a.geofence?.tag === b.geofence?.tag &&
  Math.abs(Date.parse(a.createdAt) - Date.parse(b.createdAt)) <= toleranceMs;

/** Returns the largest number of pairs, by trying all. */
function mostPairs([first, ...rest]: readonly ComparedEvent[], others: readonly ComparedEvent[]): number {
  if (first === undefined) return 0;
  const partners = others.filter((other) => canMatch(first, other));
  const withFirst = partners.map(
    (partner) =>
      1 +
      mostPairs(
        rest,
        others.filter((other) => other !== partner),
      ),
  );
  return Math.max(mostPairs(rest, others), ...withFirst);
}

const isCompared = ({ type }: ComparedEvent): boolean => type !== 'user.entered_place';

test('as many events match as possible, and every other one is missing or extra', () => {
  fc.assert(
    fc.property(eventsOf('radar'), eventsOf('fenceline'), (radar, fenceline) => {
      const { counts, differences, notCompared } = compareEvents(radar, fenceline, { toleranceMs, by: 'userId' });
      const [theirs, ours] = [radar.filter(isCompared), fenceline.filter(isCompared)];
      const matched = [...counts.values()].reduce((sum, each) => sum + each.matched, 0);
      const ofKind = (wanted: string) => differences.filter(({ kind }) => kind === wanted).map(({ event }) => event);
      expect(matched).toBe(mostPairs(theirs, ours));
      expect(ofKind('missing')).toHaveLength(theirs.length - matched);
      expect(ofKind('extra')).toHaveLength(ours.length - matched);
      expect(ofKind('missing').every((event) => theirs.includes(event))).toBe(true);
      expect(notCompared).toBe(radar.length - theirs.length);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('a copy of an event counts once, and a geofence without a pair is known by its id', () => {
  const event = { _id: 'a', type: 'user.entered_geofence', createdAt: '2029-01-01T00:00:00.000Z' };
  const theirs = { ...event, user: { userId: null, deviceId: 'phone' }, geofence: { _id: 'g1' } };
  const ours = {
    ...event,
    _id: 'b',
    user: { deviceId: 'phone' },
    geofence: { _id: 'x', tag: 'radar', externalId: 'g1' },
  };
  const { counts, differences } = compareEvents([theirs, theirs], [ours], { toleranceMs, by: 'userId' });
  expect(differences).toEqual([]);
  expect([...counts]).toEqual([['user.entered_geofence', { matched: 1, missing: 0, extra: 0 }]]);
});
