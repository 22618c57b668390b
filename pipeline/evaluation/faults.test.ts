/** Regressions, each named after the incident. */
import { describe, expect, test } from 'vitest';
import { deviceStateType } from '../../schemas/codecs.js';
import type { Settings } from '../../schemas/json/project.js';
import type { Location, LocationDetails, Visit } from '../../schemas/records.js';
import { exampleDetails } from '../../schemas/testing/examples.js';
import { evaluate } from './evaluate.js';
import { FlatDevice } from './testing/flat-device.js';
import { contextOf, flatBeacon, flatFence, flatWorld, locationAt, minutes } from './testing/flat-world.js';
import { defaultBounds } from './types.js';

/** Stores the state as a release without generations, and reads it again. */
function upgrade(device: FlatDevice): void {
  const forgotten = (visits: readonly Visit[]) => visits.map((visit) => ({ ...visit, generation: null }));
  const users = device.state!.users.map((user) => ({
    ...user,
    geofences: forgotten(user.geofences),
    beacons: forgotten(user.beacons),
  }));
  device.state = { users, locationMs: null };
}

describe('a fence that was deleted and created again under its pair kept the visit to the one before', () => {
  const shop = (generation: number, enabled = true) => flatFence('shop', 0, 0, 10, { enabled }, generation);
  const door = (generation: number, enabled = true) => flatBeacon('door', 1, enabled, generation);
  const inRange = { beacons: [door(1).identifiers] };

  test('a device that stays inside enters the new fence, without an exit of the old one', () => {
    const device = new FlatDevice(flatWorld([shop(1)]));
    expect(device.reports(0, 0)).toEqual(['entered shop']);
    device.world = flatWorld([shop(2)]);
    expect(device.reports(5, 0)).toEqual(['entered shop']);
    expect(device.evaluate(locationAt(7, 20, 0)).transitions).toMatchObject([{ id: 'shop', durationMs: 2 * 60_000 }]);
  });

  test('a device that left makes no exit from a fence that it never entered', () => {
    const device = new FlatDevice(flatWorld([shop(1)]));
    device.reports(0, 0);
    device.world = flatWorld([shop(2)]);
    expect(device.reports(5, 20)).toEqual([]);
    expect(device.user.geofences).toEqual([]);
  });

  test('a disabled new fence is entered once it is enabled', () => {
    const device = new FlatDevice(flatWorld([shop(1)]));
    device.reports(0, 0);
    device.world = flatWorld([shop(2, false)]);
    expect(device.reports(1, 0)).toEqual([]);
    device.world = flatWorld([shop(2)]);
    expect(device.reports(2, 0)).toEqual(['entered shop']);
  });

  test('the same for a beacon', () => {
    const device = new FlatDevice(flatWorld([], {}, [door(1)]));
    expect(device.reports(0, 0, inRange)).toEqual(['entered door']);
    device.world = flatWorld([], {}, [door(2)]);
    expect(device.reports(1, 0)).toEqual([]);
    expect(device.reports(2, 0, inRange)).toEqual(['entered door']);
    device.world = flatWorld([], {}, [door(3, false)]);
    expect(device.reports(3, 0, inRange)).toEqual([]);
    device.world = flatWorld([], {}, [door(3)]);
    expect(device.reports(4, 0, inRange)).toEqual(['entered door']);
  });

  test('a visit stored by a release without generations continues in the current fence', () => {
    const device = new FlatDevice(flatWorld([shop(7)], {}, [door(8)]));
    device.reports(0, 0, inRange);
    upgrade(device);
    expect(device.reports(1, 0)).toEqual([]);
    expect(device.user.geofences).toMatchObject([{ id: 'shop', generation: 7 }]);
    expect(device.user.beacons).toMatchObject([{ id: 'door', generation: 8 }]);
    device.world = flatWorld([shop(9)], {}, [door(8)]);
    expect(device.reports(2, 0)).toEqual(['entered shop']);
  });
});

describe('a disabled beacon hid an enabled one with the same identifiers', () => {
  const inRange = { beacons: [flatBeacon('', 1).identifiers] };
  test.each([
    [[flatBeacon('a', 1, false), flatBeacon('b', 1)], ['b']],
    [[flatBeacon('a', 1), flatBeacon('b', 1, false)], ['a']],
    [
      [flatBeacon('a', 1), flatBeacon('b', 1)],
      ['a', 'b'],
    ],
    [[flatBeacon('a', 1, false), flatBeacon('b', 1, false)], []],
  ])('%#', (beacons, enabled) => {
    const device = new FlatDevice(flatWorld([], {}, beacons));
    expect(device.reports(0, 0, inRange)).toEqual(enabled.map((id) => `entered ${id}`));
    expect(device.reports(1, 0, { beacons: [] })).toEqual(enabled.map((id) => `exited ${id}`));
  });

  test('a beacon that is disabled while in range is left without an event, and the other one stays', () => {
    const device = new FlatDevice(flatWorld([], {}, [flatBeacon('a', 1), flatBeacon('b', 1)]));
    device.reports(0, 0, inRange);
    device.world = flatWorld([], {}, [flatBeacon('a', 1, false), flatBeacon('b', 1)]);
    expect(device.reports(1, 0, inRange)).toEqual([]);
    expect(device.reports(2, 0, { beacons: [] })).toEqual(['exited b']);
  });
});

describe('a dwell was reported below the minimum confidence', () => {
  const settings = { dwellEvents: true, defaultDwellThreshold: 5 };
  test.each([
    [1, ['dwelled shop'], []],
    [2, ['dwelled shop'], []],
    [3, [], ['dwelled shop']],
  ])('minimumConfidence %i: reported once, with the first location that has it', (minimumConfidence, unsure, sure) => {
    const device = new FlatDevice(flatWorld([flatFence('shop', 0, 0, 10)], { ...settings, minimumConfidence }));
    device.reports(0, 0, { accuracy_m: 1 });
    expect(device.reports(6, 3, { accuracy_m: 8 })).toEqual(unsure);
    expect(device.reports(7, 3, { accuracy_m: 1 })).toEqual(sure);
    expect(device.reports(8, 3, { accuracy_m: 1 })).toEqual([]);
  });

  test('a confidence of 1 is not enough for 2', () => {
    const device = new FlatDevice(flatWorld([flatFence('shop', 0, 0, 10)], { ...settings, minimumConfidence: 2 }));
    device.reports(0, 0, { accuracy_m: 1 });
    expect(device.reports(6, 0, { accuracy_m: 50 })).toEqual([]);
    expect(device.reports(7, 0, { accuracy_m: 1 })).toEqual(['dwelled shop']);
  });
});

describe.each([
  ['100 km', 100_000],
  ['half of the equator', 20_037_508],
])('an accuracy of %s examined and entered every fence', (_name, accuracyM) => {
  const fences = Array.from({ length: 20_000 }, (_, index) =>
    flatFence(`f${index}`, ((index % 200) - 100) * 100, (Math.floor(index / 200) - 50) * 100, 40),
  );
  const world = (settings: Partial<Settings> = {}) => flatWorld(fences, settings);

  /** Counts the examined fences. */
  function judgedBy(location: Location, settings: Partial<Settings>): number {
    const context = contextOf(world(settings));
    const judged = new Set<number>();
    const { zone } = context.fences;
    context.fences.zone = (row, ...where) => {
      judged.add(row);
      return zone(row, ...where);
    };
    evaluate(location, undefined, context);
    return judged.size;
  }

  const huge = { accuracy_m: accuracyM };

  test('the fence around the point is entered with the least confidence', () => {
    const entry = { type: 'user.entered_geofence', confidence: 1 };
    expect(evaluate(locationAt(0, 0, 0, huge), undefined, contextOf(world())).transitions).toMatchObject([entry]);
    const unsure = contextOf(world({ minimumConfidence: 2 }));
    expect(evaluate(locationAt(0, 0, 0, huge), undefined, unsure).transitions).toEqual([]);
  });

  test('without buffered entries only fences around the point are examined', () => {
    expect(judgedBy(locationAt(0, 0, 0, huge), {})).toBe(1);
  });

  test('with buffered entries the number of examined fences is limited', () => {
    const judged = judgedBy(locationAt(0, 0, 0, huge), { bufferEntries: true });
    expect(judged).toBeGreaterThan(300);
    expect(judged).toBeLessThanOrEqual(defaultBounds.maxEntryCandidates);
  });

  test('enters the nearest fences, counts the others, and the state does not grow', () => {
    const device = new FlatDevice(world({ bufferEntries: true }));
    const first = device.evaluate(locationAt(0, 10, 0, huge));
    expect(first.transitions).toHaveLength(defaultBounds.maxBufferedVisits);
    expect(first.notEntered).toBeGreaterThan(0);
    const farthest = (ids: readonly string[]) =>
      Math.max(...fences.filter(({ id }) => ids.includes(id)).map(({ x, y }) => Math.hypot(x - 10, y)));
    // A hundred squares of 100 m are as large as a circle of 564 m.
    expect(farthest(device.user.geofences.map(({ id }) => id))).toBeLessThan(700);
    for (let index = 1; index < 6; index++) {
      expect(device.evaluate(locationAt(index, 50 + index * 300, 50, huge)).transitions).toEqual([]);
    }
    const state = deviceStateType.toBuffer({ users: [device.user], locationMs: null });
    expect(state.length).toBeLessThan(10_000);
  });

  test('enters fences that contain the point first, beyond the limit of the others', () => {
    const around = Array.from({ length: 1_200 }, (_, index) => flatFence(`around ${index}`, 0, 0, 500));
    const device = new FlatDevice(flatWorld([...fences, ...around], { bufferEntries: true }));
    const { transitions, notEntered } = device.evaluate(locationAt(0, 50, 50, { accuracy_m: 100 }));
    expect(transitions).toHaveLength(defaultBounds.maxVisits);
    expect(transitions.every(({ id }) => id.startsWith('around'))).toBe(true);
    expect(notEntered).toBeGreaterThanOrEqual(200);
  });
});

describe('a request that an SDK sent again after a lost answer made its events again, or hid the next fix', () => {
  const bootMs = 5_000;
  /** A fix whose request arrives late. The SDK says how old it was when the request was sent, and so is too young. */
  const fix = (atMin: number, x: number, delayMin = 0, fields: Partial<LocationDetails> = {}) => {
    const details = exampleDetails({ locationMs: bootMs + minutes(atMin), ...fields });
    return locationAt(atMin + delayMin, x, 0, { details });
  };
  const atShop = () => new FlatDevice(flatWorld([flatFence('shop', 0, 0, 10)]));
  const results = (device: FlatDevice, locations: readonly Location[]) =>
    locations.map((location) => device.evaluate(location).result);

  test('a replay that arrives again changes nothing', () => {
    const device = atShop();
    const replay = (delayMin: number) => [fix(0, 20, delayMin), fix(0.05, 0, delayMin), fix(0.1, 20, delayMin)];
    expect(results(device, replay(0))).toEqual(['applied', 'applied', 'applied']);
    expect(results(device, replay(0.07))).toEqual(['stale', 'stale', 'repeat']);
    expect(results(device, replay(2))).toEqual(['stale', 'stale', 'repeat']);
  });

  test('the fix after it is applied', () => {
    const device = atShop();
    expect(results(device, [fix(0, 0), fix(0, 0, 0.05)])).toEqual(['applied', 'repeat']);
    expect(device.evaluate(fix(0.02, 20)).transitions).toMatchObject([{ type: 'user.exited_geofence' }]);
  });

  test('a request that was overtaken by a later fix does not move the device back', () => {
    const device = atShop();
    expect(results(device, [fix(0, 0), fix(1, 20), fix(0, 0, 1.5)])).toEqual(['applied', 'applied', 'stale']);
  });

  test('the same fix is no repeat when the device was restarted, or reports another profile', () => {
    const device = atShop();
    expect(results(device, [fix(10, 0), fix(20, 20, 0, { locationMs: bootMs })])).toEqual(['applied', 'applied']);
    const named = { locationMs: bootMs, metadata: '{"plan":"gold"}' };
    expect(results(device, [fix(20, 20, 0.01, named), fix(20, 20, 0.02, named)])).toEqual(['applied', 'repeat']);
  });
});

// The two fixes were compared with the last one only. The first moved the device back, and all events came again.
describe('a request with several fixes of one time, sent again, made its events again', () => {
  const world = flatWorld([flatFence('home', 0, 0, 5), flatFence('work', 30, 0, 5)]);

  test('the same fixes change nothing, however often they arrive', () => {
    const device = new FlatDevice(world);
    const arrive = () => [0, 30, 60].flatMap((x) => device.reports(1, x, { userId: x === 60 ? 'ann' : null }));
    expect(arrive()).toEqual(['entered home', 'exited home', 'entered work', 'exited work']);
    const { user } = device;
    expect([arrive(), arrive()]).toEqual([[], []]);
    expect(device.user).toBe(user);
  });

  test('a later fix at the place of an earlier one counts', () => {
    const device = new FlatDevice(world);
    device.reports(1, 0);
    device.reports(1, 30);
    expect(device.reports(1.1, 0)).toEqual(['exited work', 'entered home']);
    expect(device.evaluate(locationAt(2, 0, 0)).state).not.toHaveProperty('overtaken');
  });

  test('a device whose clock stands still has a state of bounded size', () => {
    const device = new FlatDevice(world);
    for (let x = 0; x < 100; x++) device.reports(1, x);
    expect(device.evaluate(locationAt(1, 100, 0)).state.overtaken).toHaveLength(32);
  });
});

describe('a server whose clock was ahead made a device deaf until that time had come', () => {
  const aheadMin = 300;
  const dwelling = { dwellEvents: true, defaultDwellThreshold: 2 };
  const atShop = () => new FlatDevice(flatWorld([flatFence('shop', 0, 0, 10)], dwelling));
  /** A fix that an SDK sends with its age, and perhaps with its clock. */
  const fix = (atMin: number, x: number, ahead = 0, isClockTold = true) =>
    locationAt(atMin + ahead, x, 0, { details: exampleDetails({ locationMs: isClockTold ? minutes(atMin) : null }) });

  test.each([true, false])('fixes that other servers receive are applied (the device tells its clock: %s)', (told) => {
    const device = atShop();
    const at = (atMin: number, x: number, ahead = 0) => device.reportsOf(fix(atMin, x, ahead, told));
    expect(at(0, 0, aheadMin)).toEqual(['entered shop']);
    expect(at(1, 20)).toEqual(['exited shop']);
    expect(at(2, 0)).toEqual(['entered shop']);
    expect(at(3, 20, aheadMin)).toEqual(['exited shop']);
    expect(at(4, 0)).toEqual(['entered shop']);
    expect(at(7, 0)).toEqual(['dwelled shop']);
  });

  test('a visit that such a server began lasts from the next fix on', () => {
    const device = atShop();
    expect(device.reportsOf(fix(0, 0, aheadMin))).toEqual(['entered shop']);
    expect(device.reportsOf(fix(1, 0))).toEqual([]);
    expect(device.reportsOf(fix(4, 0))).toEqual(['dwelled shop']);
    expect(device.evaluate(fix(6, 20)).transitions).toMatchObject([{ durationMs: minutes(5) }]);
  });

  test('a request that is sent again to another server changes nothing, if the device tells its clock', () => {
    const device = atShop();
    const again = (atMin: number, x: number, laterMin: number) =>
      locationAt(atMin + laterMin, x, 0, { details: exampleDetails({ locationMs: minutes(atMin) }) });
    device.evaluate(fix(0, 20, aheadMin));
    device.evaluate(fix(1, 0, aheadMin));
    expect(device.evaluate(again(0, 20, 1.5)).result).toBe('stale');
    expect(device.evaluate(again(1, 0, 0.5)).result).toBe('repeat');
  });

  test('an old fix stays stale: it waited for its turn on the log', () => {
    const device = atShop();
    device.evaluate(fix(100, 0));
    const old = { ...fix(10, 20), receivedAt: fix(15, 0).receivedAt };
    expect(device.evaluate(old).result).toBe('stale');
  });
});
