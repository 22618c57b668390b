/** Which events count as erased. The lists and counts of a replay without them: `routes.test.ts`. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { createSecretCipher, encryptionKeyBytes } from '../pipeline/encryption.js';
import type { ErasureRecord } from '../schemas/json/erasure.js';
import { exampleEvent } from '../schemas/testing/examples.js';
import { createErasedTest, erasedIn } from './erased.js';

type Cipher = ReturnType<typeof createSecretCipher>;

/** Has no locations. */
const log = {
  bounds: async () => ({ first: 0, end: 0 }),
} as Partial<ReadableLog> as ReadableLog;
const scope = { project: 'p', environment: 'test' } as const;

// Until the state of a device forgets the user, its locations continue the old record, and are erased with it. A replay
// listed their events.
test('events that continue an erased record are erased, and those of a user who has returned are not', async () => {
  const times = { receivedBy: 1_000, receivedBeyond: Number.POSITIVE_INFINITY };
  const erased = {
    users: new Map([['ann', times]]),
    events: new Set<string>(),
    all: undefined,
    ids: new Set<string>(),
  };
  const isErased = await createErasedTest(log, scope, { partition: 0, from: 0 }, erased);
  const eventOf = (record: string, userId: string | null, actualCreatedAt: number) =>
    exampleEvent({ actualCreatedAt, user: { id: record, userId, deviceId: 'phone', profile: null } });
  expect(isErased(eventOf('first', 'ann', 900))).toBe(true);
  expect(isErased(eventOf('first', 'ann', 1_100))).toBe(true);
  expect(isErased(eventOf('second', 'ann', 1_200))).toBe(false);
  expect(isErased(eventOf('other', 'bob', 900))).toBe(false);
});

// After the loss of the encryption key every replay of the environment failed, until the topics had forgotten.
test('everything until an erasure counts as erased when its name was encrypted with another key', async () => {
  const [lost, secretCipher] = [1, 2].map(() => createSecretCipher(randomBytes(encryptionKeyBytes))) as [
    Cipher,
    Cipher,
  ];
  const erasure = (_id: string, cipher: Cipher, name: string, createdAt: number): ErasureRecord => {
    const target = cipher.encrypt(name, _id);
    return { _id, ...scope, subject: 'user', target, createdAt, updatedAt: createdAt, completedAt: createdAt + 10 };
  };
  const erasures = [
    erasure('1', lost, 'ann', 1_000),
    erasure('2', lost, 'bob', 2_000),
    erasure('3', secretCipher, 'cy', 3_000),
  ];
  const erased = erasedIn({ configuration: { erasures: () => erasures }, secretCipher, clock: () => 10_000 }, scope);
  const isErased = await createErasedTest(log, scope, { partition: 0, from: 0 }, erased);
  const eventOf = (userId: string, actualCreatedAt: number) =>
    exampleEvent({ actualCreatedAt, user: { id: `${userId}'s`, userId, deviceId: 'phone', profile: null } });
  expect(isErased(eventOf('dan', 2_000))).toBe(true);
  expect(isErased(eventOf('dan', 2_001))).toBe(false);
  expect(isErased(eventOf('cy', 3_000))).toBe(true);
});
