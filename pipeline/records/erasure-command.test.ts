import { expect, test } from 'vitest';
import type { UserState } from '../../schemas/records.js';
import { erasedUsers, erasureCommand, withoutErased } from './erasure-command.js';

const names = { project: 'p', environment: 'test', deviceId: 'phone', erasure: 'e', name: 'Ada' } as const;
const command = erasureCommand({ ...names, receivedBy: 100, receivedBeyond: 200 });
const user = (userId: string | null, createdAt: number): UserState => ({
  id: `${userId} ${createdAt}`,
  userId,
  createdAt,
  profile: null,
  last: null,
  geofences: [],
  beacons: [],
});
const isErased = (given: UserState, by = command): boolean =>
  erasedUsers(by, { users: [given], locationMs: null }).length === 1;

test('a command erases users of the time before its request, and of a clock that was ahead', () => {
  expect([100, 101, 200, 201].map((createdAt) => isErased(user('Ada', createdAt)))).toEqual([true, false, false, true]);
  expect(isErased(user('Bert', 100))).toBe(false);
});

test('a command of an earlier release, with one time, spares every later user', () => {
  const earlier = { ...command, occurredAt: 100 };
  expect([100, 101, 1_000].map((createdAt) => isErased(user('Ada', createdAt), earlier))).toEqual([true, false, false]);
});

test('a sole anonymous record that is left is erased by no repetition, whatever clock it is of', () => {
  for (const createdAt of [1, 150, 1_000]) {
    const left = withoutErased(command, { users: [user('Ada', 1), user(null, createdAt)], locationMs: null });
    const [anonymous] = left!.users;
    expect(isErased({ ...anonymous!, userId: 'Ada' })).toBe(false);
  }
});
