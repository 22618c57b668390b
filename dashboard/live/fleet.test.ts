import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UserPosition } from '../../client/types';
import { askAfter, drawEveryMs, drawnAt, isMoving, maxDevices, moved, noFleet } from './fleet';

const position = (user: string, receivedMs: number, coordinates: [number, number] = [0, 0]): UserPosition => {
  const receivedAt = new Date(receivedMs).toISOString();
  return { user, deviceId: user, coordinates, accuracy: 5, geofences: 0, at: receivedAt, receivedAt };
};

test('each device is at the position that was received last, in whatever order answers come', () => {
  const one = fc.record({ user: fc.constantFrom('a', 'b', 'c'), receivedMs: fc.integer({ min: 0, max: 50 }) });
  fc.assert(
    fc.property(fc.array(fc.array(one, { maxLength: 5 }), { maxLength: 8 }), (answers) => {
      let fleet = noFleet;
      for (const answer of answers)
        fleet = moved(
          fleet,
          answer.map((each) => position(each.user, each.receivedMs)),
          0,
        );
      const expected = new Map<string, number>();
      for (const { user, receivedMs } of answers.flat()) {
        expected.set(user, Math.max(receivedMs, expected.get(user) ?? 0));
      }
      const found = [...fleet].map(([user, each]) => [user, Date.parse(each.position.receivedAt)]);
      expect(new Map(found as [string, number][])).toEqual(expected);
    }),
  );
});

test('a device glides to its next position, and jumps where it is far', () => {
  const before = moved(noFleet, [position('a', 1, [10, 50])], 0);
  const near = moved(before, [position('a', 2, [10.1, 50])], 5_000);
  const longitudes = [5_000, 5_600, 60_000].map((nowMs) => drawnAt(near.get('a')!, nowMs)[0]);
  expect(longitudes[0]).toBe(10);
  expect(longitudes[1]).toBeGreaterThan(10);
  expect(longitudes[1]).toBeLessThan(10.1);
  expect(longitudes[2]).toBe(10.1);
  expect([isMoving(near, 5_600), isMoving(near, 60_000)]).toEqual([true, false]);
  const far = moved(before, [position('a', 2, [40, 50])], 5_000);
  expect(drawnAt(far.get('a')!, 5_000)).toEqual([40, 50]);
});

test('the fleet is bounded to the devices received last, and asks again some seconds before the newest', () => {
  const many = Array.from({ length: maxDevices + 10 }, (_, index) => position(`${index}`, 60_000 + index));
  const fleet = moved(noFleet, many, 0);
  expect([fleet.size, fleet.has('9'), fleet.has('10')]).toEqual([maxDevices, false, true]);
  expect(Date.parse(askAfter(fleet)!)).toBe(60_000 + maxDevices + 9 - 5_000);
  expect(askAfter(noFleet)).toBeUndefined();
});

test('what does not move is not drawn again, and slow frames leave time for the rest of the page', () => {
  const fleet = moved(noFleet, [position('a', 1, [10, 50])], 0);
  expect(isMoving(fleet, 0)).toBe(false);
  expect(moved(fleet, [position('a', 1, [10, 50])], 10)).toBe(fleet);
  expect([drawEveryMs(10, 16), drawEveryMs(maxDevices, 16), drawEveryMs(10, 200)]).toEqual([50, 150, 600]);
});
