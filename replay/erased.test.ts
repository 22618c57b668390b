/** Which events count as erased. The lists and counts of a replay without them: `routes.test.ts`. */
import { expect, test } from 'vitest';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { exampleEvent } from '../schemas/testing/examples.js';
import { createErasedTest } from './erased.js';

/** Has no locations. */
const log = {
  bounds: async () => ({ first: 0, end: 0 }),
} as Partial<ReadableLog> as ReadableLog;

// Until the state of a device forgets the user, its locations continue the old record, and are erased with it. A replay
// listed their events.
test('events that continue an erased record are erased, and those of a user who has returned are not', async () => {
  const times = { receivedBy: 1_000, receivedBeyond: Number.POSITIVE_INFINITY };
  const erased = { users: new Map([['ann', times]]), events: new Set<string>(), ids: new Set<string>() };
  const isErased = await createErasedTest(
    log,
    { project: 'p', environment: 'test' },
    { partition: 0, from: 0 },
    erased,
  );
  const eventOf = (record: string, userId: string | null, actualCreatedAt: number) =>
    exampleEvent({ actualCreatedAt, user: { id: record, userId, deviceId: 'phone', profile: null } });
  expect(isErased(eventOf('first', 'ann', 900))).toBe(true);
  expect(isErased(eventOf('first', 'ann', 1_100))).toBe(true);
  expect(isErased(eventOf('second', 'ann', 1_200))).toBe(false);
  expect(isErased(eventOf('other', 'bob', 900))).toBe(false);
});
