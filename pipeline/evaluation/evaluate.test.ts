/** The rules of evaluation, one by one. */
import { describe, expect, test } from 'vitest';
import type { Settings } from '../../schemas/json/project.js';
import type { Location, LocationDetails } from '../../schemas/records.js';
import { exampleDetails } from '../../schemas/testing/examples.js';
import { FlatDevice } from './testing/flat-device.js';
import {
  type FlatFence,
  type FlatWorld,
  flatBeacon,
  flatFence,
  flatWorld,
  locationAt,
  minutes,
  noonMs,
} from './testing/flat-world.js';
import type { FenceRules } from './types.js';

// A shop of 10 m radius around x = 0: inside at 0, on its boundary at 10, outside at 20.
const shop = (rules: Partial<FenceRules> = {}): FlatFence => flatFence('shop', 0, 0, 10, rules);
const atShop = (settings: Partial<Settings> = {}, rules: Partial<FenceRules> = {}) =>
  new FlatDevice(flatWorld([shop(rules)], settings));

describe('entries and exits', () => {
  test('reports one entry, and an exit with its duration', () => {
    const device = atShop();
    expect(device.reports(0, 20)).toEqual([]);
    expect(device.reports(1, 0)).toEqual(['entered shop']);
    expect(device.reports(2, 5)).toEqual([]);
    expect(device.evaluate(locationAt(4, 20, 0)).transitions).toEqual([
      { type: 'user.exited_geofence', id: 'shop', confidence: 3, durationMs: minutes(3), currentlyOperating: null },
    ]);
    expect(device.reports(5, 30)).toEqual([]);
  });

  test('a point on the boundary is inside', () => expect(atShop().reports(0, 10)).toEqual(['entered shop']));

  test('buffer entries: within the accuracy of the boundary, the limit included', () => {
    expect(atShop().reports(0, 15, { accuracy_m: 5 })).toEqual([]);
    expect(atShop({ bufferEntries: true }).reports(0, 15, { accuracy_m: 5 })).toEqual(['entered shop']);
    expect(atShop({ bufferEntries: true }).reports(0, 16, { accuracy_m: 5 })).toEqual([]);
  });

  test('buffer exits: only beyond the accuracy of the boundary', () => {
    const device = atShop({ bufferExits: true });
    device.reports(0, 0);
    expect(device.reports(1, 15, { accuracy_m: 5 })).toEqual([]);
    expect(device.reports(2, 16, { accuracy_m: 5 })).toEqual(['exited shop']);
  });

  test.each([true, false])('a device at rest in the buffer does not flap (buffer exits %s)', (bufferExits) => {
    const device = atShop({ bufferEntries: true, bufferExits });
    expect(device.reports(0, 12, { accuracy_m: 5 })).toEqual(['entered shop']);
    for (let atMin = 1; atMin < 20; atMin++) expect(device.reports(atMin, 12, { accuracy_m: 5 })).toEqual([]);
  });

  test('stop detection: enters when the device stops or the app is in the foreground', () => {
    const device = atShop({ stopDetection: true });
    expect(device.reports(0, 0)).toEqual([]);
    expect(device.reports(1, 0, { stopped: true })).toEqual(['entered shop']);
    expect(device.reports(2, 20)).toEqual(['exited shop']);
    expect(device.reports(3, 0, { foreground: true })).toEqual(['entered shop']);
  });

  test('a fence overrides stop detection', () => {
    expect(atShop({ stopDetection: true }, { stopDetection: false }).reports(0, 0)).toEqual(['entered shop']);
    expect(atShop({ stopDetection: false }, { stopDetection: true }).reports(0, 0)).toEqual([]);
  });

  test('orders exits, entries, dwells, each by id', () => {
    const left = ['d', 'b'].map((id) => flatFence(id, 0, 0, 10));
    const right = ['c', 'a'].map((id) => flatFence(id, 30, 0, 10));
    const around = ['z', 'y'].map((id) => flatFence(id, 0, 0, 100, { dwellThreshold_min: 1 }));
    const device = new FlatDevice(flatWorld([...left, ...around, ...right], { dwellEvents: true }));
    expect(device.reports(0, 0)).toEqual(['entered b', 'entered d', 'entered y', 'entered z']);
    expect(device.reports(5, 30)).toEqual(['exited b', 'exited d', 'entered a', 'entered c', 'dwelled y', 'dwelled z']);
    expect(device.inside()).toEqual(['y', 'z', 'a', 'c']);
  });

  test('a changed geometry applies from the next location', () => {
    const device = atShop();
    device.reports(0, 0);
    device.world = flatWorld([flatFence('shop', 50, 0, 10)]);
    expect(device.reports(1, 0)).toEqual(['exited shop']);
    expect(device.reports(2, 50)).toEqual(['entered shop']);
  });
});

describe('confidence', () => {
  const confidenceOf = (x: number, accuracy_m: number, settings: Partial<Settings> = {}) =>
    atShop(settings).evaluate(locationAt(0, x, 0, { accuracy_m })).transitions[0]?.confidence;
  const exitConfidenceOf = (x: number, accuracy_m: number) => {
    const device = atShop();
    device.reports(0, 0);
    return device.evaluate(locationAt(1, x, 0, { accuracy_m })).transitions[0]?.confidence;
  };

  test('of an entry: 3 wholly inside, 2 by half, else 1', () => {
    expect(confidenceOf(5, 5)).toBe(3);
    expect(confidenceOf(8, 5)).toBe(2);
    expect(confidenceOf(10, 5)).toBe(1);
    expect(confidenceOf(10, 0)).toBe(3);
  });

  test('of an entry into a fence smaller than the disc', () => {
    expect(confidenceOf(0, 12)).toBe(2);
    expect(confidenceOf(0, 50)).toBe(1);
  });

  test('of an exit: 3 wholly outside, touching included, else 2 for more than half', () => {
    expect(exitConfidenceOf(20, 5)).toBe(3);
    expect(exitConfidenceOf(15, 5)).toBe(3);
    expect(exitConfidenceOf(12, 5)).toBe(2);
  });

  test('a transition needs the minimum confidence', () => {
    expect(confidenceOf(10, 5, { minimumConfidence: 2 })).toBeUndefined();
    expect(confidenceOf(8, 5, { minimumConfidence: 2 })).toBe(2);
    const device = atShop({ minimumConfidence: 3 });
    device.reports(0, 0);
    expect(device.reports(1, 12, { accuracy_m: 5 })).toEqual([]);
    expect(device.reports(2, 20, { accuracy_m: 5 })).toEqual(['exited shop']);
  });
});

describe('dwells', () => {
  test('once per visit, after the threshold', () => {
    const device = atShop({ dwellEvents: true }, { dwellThreshold_min: 10 });
    device.reports(0, 0);
    expect(device.reports(10, 0)).toEqual([]);
    expect(device.evaluate(locationAt(10.5, 1, 0)).transitions).toMatchObject([
      { type: 'user.dwelled_in_geofence', confidence: 3, durationMs: minutes(10.5) },
    ]);
    expect(device.reports(30, 0)).toEqual([]);
    device.reports(31, 20);
    device.reports(32, 0);
    expect(device.reports(50, 0)).toEqual(['dwelled shop']);
  });

  test("uses the project's threshold for a fence without one; reports none without either, or if disabled", () => {
    const dwells = (settings: Partial<Settings>, rules: Partial<FenceRules> = {}) => {
      const device = atShop(settings, rules);
      device.reports(0, 0);
      return device.reports(10, 0).length === 1;
    };
    expect(dwells({ dwellEvents: true, defaultDwellThreshold: 5 })).toBe(true);
    expect(dwells({ dwellEvents: true, defaultDwellThreshold: 5 }, { dwellThreshold_min: 15 })).toBe(false);
    expect(dwells({ dwellEvents: true })).toBe(false);
    expect(dwells({ dwellEvents: false, defaultDwellThreshold: 5 })).toBe(false);
  });

  test('a fix outside that is too inaccurate for an exit is not a dwell either', () => {
    const device = atShop({ dwellEvents: true, defaultDwellThreshold: 5, minimumConfidence: 3 });
    device.reports(0, 0);
    expect(device.reports(10, 12, { accuracy_m: 5 })).toEqual([]);
    expect(device.reports(11, 0)).toEqual(['dwelled shop']);
  });
});

describe('fences that are not monitored', () => {
  const evenHours = (atMs: number) => Math.floor(atMs / minutes(60)) % 2 === 0;
  const toldAs = { userId: 'bob' };
  const ways: [string, Partial<Settings>, Partial<FenceRules>][] = [
    ['disabled', {}, { enabled: false }],
    ['past disableAfter', {}, { disableAfterMs: noonMs - 1 }],
    ['closed', { restrictToOperatingHours: true }, { hours: () => false }],
    ['for another user', {}, { userIds: new Set(['ann']) }],
  ];

  describe.each(ways)('%s', (_, settings, rules) => {
    const unmonitored = flatWorld([shop(rules)], settings);
    const monitored = flatWorld([shop()], settings);

    test('a device outside stays outside, and enters by its first update inside once it is monitored', () => {
      const device = new FlatDevice(unmonitored);
      expect(device.reports(0, 0, toldAs)).toEqual([]);
      expect(device.inside()).toEqual([]);
      device.world = monitored;
      expect(device.reports(1, 1, toldAs)).toEqual(['entered shop']);
    });

    test('a device that leaves becomes outside without an event', () => {
      const device = new FlatDevice(monitored);
      device.reports(0, 0, toldAs);
      device.world = unmonitored;
      expect(device.reports(1, 20, toldAs)).toEqual([]);
      expect(device.inside()).toEqual([]);
      device.world = monitored;
      expect(device.reports(2, 20, toldAs)).toEqual([]);
      expect(device.reports(3, 0, toldAs)).toEqual(['entered shop']);
    });

    test('a device that stays is still inside afterwards, without a second entry, and dwells then', () => {
      const withDwells = (world: FlatWorld) => ({
        ...world,
        settings: { ...world.settings, dwellEvents: true, defaultDwellThreshold: 5 },
      });
      const device = new FlatDevice(withDwells(monitored));
      device.reports(0, 0, toldAs);
      device.world = withDwells(unmonitored);
      expect(device.reports(10, 0, toldAs)).toEqual([]);
      expect(device.inside()).toEqual(['shop']);
      device.world = withDwells(monitored);
      expect(device.reports(11, 0, toldAs)).toEqual(['dwelled shop']);
      expect(device.reports(12, 20, toldAs)).toEqual(['exited shop']);
    });
  });

  test('a fence is monitored until disableAfter, inclusive', () => {
    expect(atShop({}, { disableAfterMs: noonMs }).reports(0, 0)).toEqual(['entered shop']);
    expect(atShop({}, { disableAfterMs: noonMs - 1 }).reports(0, 0)).toEqual([]);
  });

  test('hours only mark events, unless the project restricts events to them', () => {
    const device = atShop({}, { hours: evenHours });
    const operating = (atMin: number, x: number) =>
      device.evaluate(locationAt(atMin, x, 0)).transitions[0]?.currentlyOperating;
    expect(operating(0, 0)).toBe(true);
    expect(operating(60, 20)).toBe(false);
  });
});

describe('fences that are gone, or not for this request', () => {
  test.each([
    ['deleted', flatWorld([])],
    ['past deleteAfter', flatWorld([shop({ deleteAfterMs: noonMs })])],
  ])('%s: forgotten without an event; entered again after it is created again', (_, gone) => {
    const device = atShop();
    device.reports(0, 0);
    device.world = gone;
    expect(device.reports(1, 0)).toEqual([]);
    expect(device.inside()).toEqual([]);
    device.world = flatWorld([shop()]);
    expect(device.reports(2, 0)).toEqual(['entered shop']);
  });

  test('a request from another address neither enters nor exits', () => {
    const device = atShop({}, { addresses: (ip) => ip === '10.0.0.1' });
    expect(device.reports(0, 0, { ip: '10.0.0.2' })).toEqual([]);
    expect(device.reports(1, 0, { ip: null })).toEqual([]);
    expect(device.reports(2, 0, { ip: '10.0.0.1' })).toEqual(['entered shop']);
    expect(device.reports(3, 20, { ip: '10.0.0.2' })).toEqual([]);
    expect(device.inside()).toEqual(['shop']);
    expect(device.reports(4, 20, { ip: '10.0.0.1' })).toEqual(['exited shop']);
  });
});

describe('repeats and stale locations', () => {
  test('the same fix sent again is a repeat with the same state object', () => {
    const device = atShop();
    const first = device.evaluate(locationAt(0, 0, 0));
    const again = device.evaluate(locationAt(0, 0, 0));
    expect(again).toEqual({ result: 'repeat', state: first.state, user: first.user, transitions: [], notEntered: 0 });
    expect(again.state).toBe(first.state);
  });

  test('the same fix sent again with stopped: true makes the entry', () => {
    const device = atShop({ stopDetection: true });
    expect(device.reports(0, 0)).toEqual([]);
    expect(device.reports(0, 0, { stopped: true })).toEqual(['entered shop']);
  });

  test.each<Partial<Location>>([
    { accuracy_m: 1 },
    { longitude: 1 },
    { latitude: 1 },
    { foreground: true },
    { beacons: [] },
    { userId: 'ann' },
  ])('not a repeat: %j', (difference) => {
    const device = atShop();
    device.reports(0, 0);
    expect(device.evaluate(locationAt(0, 0, 0, difference)).result).toBe('applied');
  });

  test('a repeat ignores address, signal strength and the order of beacons', () => {
    const device = atShop();
    const [a, b] = [flatBeacon('', 1).identifiers, flatBeacon('', 2).identifiers];
    device.evaluate(locationAt(0, 0, 0, { beacons: [a, b] }));
    const again = locationAt(0, 0, 0, { beacons: [b, { ...a, rssi_dbm: -40 }], ip: '10.0.0.1' });
    expect(device.evaluate(again).result).toBe('repeat');
  });

  test('a device time before the last applied is stale, for any user', () => {
    const device = atShop();
    const { state } = device.evaluate(locationAt(5, 20, 0));
    for (const userId of [null, 'ann']) {
      const late = device.evaluate(locationAt(4, 0, 0, { userId }));
      expect(late).toMatchObject({ result: 'stale', transitions: [] });
      expect(late.state).toBe(state);
      expect(late.user).toBe(state.users[0]);
    }
  });

  test('a stale location is answered with the record of its own user, if the device has one', () => {
    const device = atShop();
    device.evaluate(locationAt(4, 20, 0, { userId: 'ann' }));
    const { state } = device.evaluate(locationAt(5, 20, 0, { userId: 'ben' }));
    const [ben, ann] = state.users;
    expect([ben?.userId, ann?.userId]).toEqual(['ben', 'ann']);
    for (const [userId, user] of [
      ['ann', ann],
      ['ben', ben],
      ['cem', ben],
    ] as const) {
      const late = device.evaluate(locationAt(3, 20, 0, { userId }));
      expect(late.result).toBe('stale');
      expect(late.user).toBe(user);
    }
  });

  test('a location without a device time is never stale or a repeat, and no duration is negative', () => {
    const device = atShop();
    device.evaluate(locationAt(5, 0, 0));
    expect(device.evaluate(locationAt(5, 0, 0, { deviceTimed: false })).result).toBe('applied');
    expect(device.evaluate(locationAt(5, 0, 0, { deviceTimed: false })).result).toBe('applied');
    expect(device.evaluate(locationAt(4, 20, 0, { deviceTimed: false })).transitions).toMatchObject([
      { durationMs: 0 },
    ]);
  });

  test('an equal device time with another point is applied', () => {
    const device = atShop();
    device.reports(0, 0);
    expect(device.reports(0, 20)).toEqual(['exited shop']);
  });
});

describe('beacons', () => {
  const ranging = (...minors: number[]) => ({ beacons: minors.map((minor) => flatBeacon('', minor).identifiers) });
  const both = [flatBeacon('till', 1), flatBeacon('door', 2)];
  const besideBeacons = () => new FlatDevice(flatWorld([], {}, both));

  test('enters listed beacons, leaves others, ignores unknown ones; null changes nothing', () => {
    const device = besideBeacons();
    expect(device.reports(0, 0, ranging(1, 2, 9, 1))).toEqual(['entered door', 'entered till']);
    expect(device.reports(1, 0)).toEqual([]);
    expect(device.reports(2, 0, ranging(2))).toEqual(['exited till']);
    expect(device.evaluate(locationAt(3, 0, 0, ranging())).transitions).toEqual([
      { type: 'user.exited_beacon', id: 'door', confidence: 3, durationMs: minutes(3), currentlyOperating: null },
    ]);
  });

  test('their transitions come after those of geofences: exits, then entries', () => {
    const device = new FlatDevice(flatWorld([flatFence('z', 0, 0, 10), flatFence('y', 30, 0, 10)], {}, both));
    expect(device.reports(0, 0, ranging(1))).toEqual(['entered z', 'entered till']);
    expect(device.reports(1, 30, ranging(2))).toEqual(['exited z', 'entered y', 'exited till', 'entered door']);
  });

  test('a disabled beacon makes no events: it is not entered, left without an event, kept while in range', () => {
    const device = besideBeacons();
    device.reports(0, 0, ranging(1, 2));
    device.world = flatWorld([], {}, [
      flatBeacon('till', 1, false),
      flatBeacon('door', 2, false),
      flatBeacon('new', 3, false),
    ]);
    expect(device.reports(1, 0, ranging(2, 3))).toEqual([]);
    expect(device.state!.users[0]!.beacons.map(({ id }) => id)).toEqual(['door']);
    device.world = flatWorld([], {}, both);
    expect(device.reports(2, 0, ranging(1, 2))).toEqual(['entered till']);
  });

  test('a deleted beacon is forgotten, even by a location without beacons', () => {
    const device = besideBeacons();
    device.reports(0, 0, ranging(1, 2));
    device.world = flatWorld([], {}, [both[1]!]);
    expect(device.reports(1, 0)).toEqual([]);
    device.world = flatWorld([], {}, both);
    expect(device.reports(2, 0, ranging(1, 2))).toEqual(['entered till']);
  });

  test('come after geofences', () => {
    const device = new FlatDevice(flatWorld([shop()], {}, both));
    expect(device.reports(0, 0, ranging(1))).toEqual(['entered shop', 'entered till']);
    expect(device.reports(1, 20, ranging(2))).toEqual(['exited shop', 'exited till', 'entered door']);
  });
});

describe('users', () => {
  test('the first user takes over the anonymous record with its visits', () => {
    const device = atShop();
    const own = device.evaluate(locationAt(0, 0, 0)).user;
    const ann = device.evaluate(locationAt(1, 0, 0, { userId: 'ann' }));
    expect(ann.user).toMatchObject({ id: own.id, userId: 'ann', createdAt: own.createdAt, geofences: own.geofences });
    expect(ann.transitions).toEqual([]);
    expect(ann.state.users).toHaveLength(1);
  });

  test('another user on the same device gets a new record; each keeps its own', () => {
    const device = atShop();
    const ann = device.evaluate(locationAt(0, 0, 0, { userId: 'ann' })).user;
    expect(device.reports(1, 0, { userId: 'bob' })).toEqual(['entered shop']);
    expect(device.reports(2, 20, { userId: 'bob' })).toEqual(['exited shop']);
    const later = device.evaluate(locationAt(3, 0, 0, { userId: 'ann' }));
    expect(later.transitions).toEqual([]);
    expect(later.user.id).toBe(ann.id);
    expect(later.state.users.map(({ userId }) => userId)).toEqual(['ann', 'bob']);
  });

  test('once a user is named, the anonymous record stays separate', () => {
    const device = atShop();
    device.reports(0, 0, { userId: 'ann' });
    expect(device.reports(1, 0)).toEqual(['entered shop']);
    expect(device.reports(2, 0, { userId: 'bob' })).toEqual(['entered shop']);
    expect(device.state!.users.map(({ userId }) => userId)).toEqual(['bob', null, 'ann']);
  });

  test('the id of a new record is derived from its first location', () => {
    const location = locationAt(0, 0, 0, { userId: 'ann' });
    const idOf = (fields: Partial<Location>) => atShop().evaluate({ ...location, ...fields }).user.id;
    expect(idOf({})).toMatch(/^[0-9a-f]{24}$/);
    expect(idOf({})).toBe(idOf({}));
    const others: Partial<Location>[] = [
      { id: 'other' },
      { userId: 'bob' },
      { deviceId: 'other' },
      { environment: 'live' },
    ];
    for (const other of others) expect(idOf(other)).not.toBe(idOf({}));
  });

  test('a device keeps 16 users, and forgets the least recently used', () => {
    const device = atShop();
    for (let user = 0; user < 16; user++) device.reports(user, 0, { userId: `user-${user}` });
    device.reports(16, 0, { userId: 'user-0' });
    device.reports(17, 0, { userId: 'user-16' });
    const kept = device.state!.users.map(({ userId }) => userId);
    expect(kept).toHaveLength(16);
    expect(kept.slice(0, 2)).toEqual(['user-16', 'user-0']);
    expect(kept).not.toContain('user-1');
  });
});

describe('profile', () => {
  const details = (reported: Partial<LocationDetails>): LocationDetails =>
    exampleDetails({ sessionId: 'not part of a profile', altitude_m: 12, nearbyGeofences: true, ...reported });

  test('keeps reported fields until they change', () => {
    const device = atShop();
    let atMin = 0;
    const profileAfter = (reported: Partial<LocationDetails> | null) =>
      device.evaluate(locationAt(atMin++, 0, 0, { details: reported && details(reported) })).user.profile;
    expect(profileAfter(null)).toBeNull();
    expect(profileAfter({})).toBeNull();
    expect(profileAfter({ deviceType: 'iOS', metadata: '{"plan":"gold"}' })).toBe(
      '{"metadata":{"plan":"gold"},"deviceType":"iOS"}',
    );
    expect(profileAfter(null)).toBe('{"metadata":{"plan":"gold"},"deviceType":"iOS"}');
    expect(JSON.parse(profileAfter({ metadata: '{}', description: 'Ann' })!)).toEqual({
      metadata: {},
      deviceType: 'iOS',
      description: 'Ann',
    });
  });

  test('keeps every field of a profile', () => {
    const all = {
      installId: '1',
      description: '2',
      metadata: { three: 3 },
      deviceType: '4',
      deviceMake: '5',
      deviceModel: '6',
      deviceOS: '7',
      sdkVersion: '8',
      locationAuthorization: '9',
      locationAccuracyAuthorization: '10',
    };
    const reported = details({ ...all, metadata: JSON.stringify(all.metadata) });
    expect(JSON.parse(atShop().evaluate(locationAt(0, 0, 0, { details: reported })).user.profile!)).toEqual(all);
  });
});

test('the next state shares unchanged parts', () => {
  const device = atShop();
  const before = device.evaluate(locationAt(0, 0, 0, { userId: 'ann' })).user;
  const after = device.evaluate(locationAt(1, 1, 0, { userId: 'ann' })).user;
  expect(after.geofences).toBe(before.geofences);
  expect(after.beacons).toBe(before.beacons);
});
