import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hourMs } from '../../schemas/durations.js';
import { deriveId } from '../../schemas/ids.js';
import type { Outcome } from '../../schemas/records.js';
import { exampleLocation, exampleOutcome } from '../../schemas/testing/examples.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { userRows } from '../../schemas/testing/rows.js';
import { type Body, useAnalytics, useApi } from '../testing/fixtures.js';
import { eventOf, places, storeEvents } from './testing/world.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

// Must lie within the tables' time to live.
const nowMs = Date.now();
const geofences = places.filter(({ kind }) => kind === 'geofence');
const beacons = places.filter(({ kind }) => kind === 'beacon');

/** A user record as of one of its locations. */
interface Stored {
  readonly user: number;
  readonly hoursAgo: number;
  readonly inside: readonly string[];
  readonly near: readonly string[];
}

/** Returns one of three devices. Users 0, 3 and 6 share one. */
const deviceOf = (user: number): string => `device ${user % 3}`;

const stored: fc.Arbitrary<Stored> = fc.record({
  user: fc.nat(7),
  hoursAgo: fc.integer({ min: 1, max: 24 * 14 }),
  inside: fc.subarray(geofences.map(({ id }) => id)),
  near: fc.subarray(beacons.map(({ id }) => id)),
});

/** Rows ordered by time, no two at the same time. */
const records = fc.uniqueArray(stored, { maxLength: 12, selector: ({ hoursAgo }) => hoursAgo });

function outcomeOf(project: string, { user, hoursAgo, inside, near }: Stored): Outcome {
  const updatedAt = nowMs - hoursAgo * hourMs;
  return exampleOutcome({
    location: exampleLocation({
      project,
      deviceId: deviceOf(user),
      userId: user < 2 ? 'ann' : null,
      occurredAt: updatedAt,
      receivedAt: updatedAt,
    }),
    user: deriveId('user', `${user}`),
    userCreatedAt: updatedAt,
    geofences: [...inside],
    beacons: [...near],
  });
}

function expected(all: readonly Stored[], kind: 'geofence' | 'beacon', days: number) {
  const newestFirst = all.toSorted((one, other) => one.hoursAgo - other.hoursAgo);
  const devices = newestFirst.filter(
    (one, index) => newestFirst.findIndex(({ user }) => deviceOf(user) === deviceOf(one.user)) === index,
  );
  const heard = devices.filter(({ hoursAgo }) => hoursAgo <= days * 24);
  return places.flatMap((place) => {
    const here = heard.filter(({ inside, near }) => [...inside, ...near].includes(place.id));
    if (place.kind !== kind || here.length === 0) return [];
    return {
      [kind]: place.id,
      ...(place.tag !== null && { tag: place.tag }),
      ...(place.externalId !== null && { externalId: place.externalId }),
      devices: here.length,
      users: new Set(here.map(({ user }) => (user < 2 ? 'ann' : user))).size,
      lastUpdatedAt: new Date(nowMs - (here[0] as Stored).hoursAgo * hourMs).toISOString(),
    };
  });
}

/** Stores the records. A visitor has entered each place once, which makes its tag known. */
async function told(all: readonly Stored[]) {
  const project = await api.newProject('Inside');
  const id = project.record._id;
  const visitor = { id: deriveId('visitor'), userId: null, deviceId: 'visitor' };
  const circumstances = {
    project: id,
    user: visitor,
    createdAt: nowMs - 30 * 24 * hourMs,
    receivedAt: nowMs,
    locationId: '0',
  };
  await storeEvents(
    analytics,
    places.map((place) => eventOf(place, true, circumstances)),
    [0],
  );
  for (const one of all) await analytics.insert('users', userRows([outcomeOf(id, one)]));
  return async (query: string) => {
    const { body } = await api.call('GET', `/v1/analytics/inside?${query}`, { key: project.key('test', 'secret') });
    return body.rows as Body[];
  };
}

const byPlace = (rows: readonly Body[]): Body[] =>
  rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

test('a device is inside as of its last location in the range, whichever of its users sent it', async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      fc.constantFrom('geofence' as const, 'beacon' as const),
      fc.constantFrom(3, 7),
      async (all, kind, days) => {
        const ask = await told(all);
        const from = new Date(nowMs - days * 24 * hourMs).toISOString();
        const rows = await ask(`kind=${kind}&from=${from}`);
        expect(byPlace(rows)).toEqual(byPlace(expected(all, kind, days)));
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

test('filters by tag and groups into one row', async () => {
  const ids = geofences.map(({ id }) => id);
  const ask = await told([0, 1, 2].map((user) => ({ user, hoursAgo: user + 1, inside: ids.slice(user), near: [] })));
  expect(await ask('groupBy=none')).toMatchObject([{ devices: 3, users: 2 }]);
  expect(await ask('tag=shop')).toMatchObject([
    { geofence: ids[3], tag: 'shop', devices: 3 },
    { geofence: ids[0], tag: 'shop', externalId: 'store-0', devices: 1 },
  ]);
  expect(await ask('groupBy=tag&tag=shop')).toMatchObject([{ tag: 'shop', devices: 3 }]);
});

// It counted only when its time had come: never, as long as it reported.
test('regression: a device whose clock is ahead is inside now', async () => {
  const ask = await told([{ user: 0, hoursAgo: -0.05, inside: [geofences[0]!.id], near: [] }]);
  expect(await ask('')).toMatchObject([{ geofence: geofences[0]!.id, devices: 1 }]);
  expect(await ask(`to=${new Date(nowMs).toISOString()}`)).toEqual([]);
});
