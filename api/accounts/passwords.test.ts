import { expect, test } from 'vitest';
import { createPasswords, recommendedCost, scryptOf } from './passwords.js';

const cost = { logN: 4, r: 8, p: 1 };

test('a password fits its own hash only, and equal passwords have different hashes', async () => {
  const passwords = createPasswords({ cost });
  const [first, second] = [await passwords.hash('correct horse'), await passwords.hash('correct horse')];
  expect(first).not.toBe(second);
  expect(await passwords.verify('correct horse', first)).toBe(true);
  expect(await passwords.verify('correct horse', second)).toBe(true);
  expect(await passwords.verify('correct horsf', first)).toBe(false);
  expect(await passwords.verify('', first)).toBe(false);
});

test('a password may be typed in any Unicode form', async () => {
  const passwords = createPasswords({ cost });
  const hash = await passwords.hash('caf\u00e9 caf\u00e9');
  expect(await passwords.verify('cafe\u0301 cafe\u0301', hash)).toBe(true);
});

test('the default parameters are those that OWASP lists for scrypt, and an older hash still fits', async () => {
  expect(recommendedCost).toEqual({ logN: 15, r: 8, p: 3 });
  const [older, newer] = [createPasswords({ cost }), createPasswords()];
  const hash = await older.hash('correct horse');
  expect([older.isCurrent(hash), newer.isCurrent(hash)]).toEqual([true, false]);
  expect(await newer.verify('correct horse', hash)).toBe(true);
  expect(await newer.hash('correct horse')).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/);
});

test('a password without a hash takes the place of a hash in the queue, and never fits', async () => {
  const passwords = createPasswords({ cost, maxWaiting: 1 });
  const results = await Promise.allSettled([
    passwords.verify('a', undefined),
    passwords.verify('b', undefined),
    passwords.verify('c', undefined),
  ]);
  expect(results).toMatchObject([
    { status: 'fulfilled', value: false },
    { status: 'fulfilled', value: false },
    { status: 'rejected', reason: { code: 'overloaded', retryAfterS: 5 } },
  ]);
  // The queue is free again.
  expect(await passwords.verify('a', await passwords.hash('a'))).toBe(true);
});

test('a flood of attempts computes one hash at a time, and refuses those beyond a bounded queue', async () => {
  let [running, most, computed] = [0, 0, 0];
  const counted: typeof scryptOf = async (...parameters) => {
    running += 1;
    computed += 1;
    most = Math.max(most, running);
    try {
      return await scryptOf(...parameters);
    } finally {
      running -= 1;
    }
  };
  const passwords = createPasswords({ cost, derive: counted });
  const attempts = await Promise.allSettled(
    Array.from({ length: 500 }, (_, index) => passwords.verify(`${index}`, undefined)),
  );
  const refused = attempts.filter(({ status }) => status === 'rejected');
  expect(most).toBe(1);
  // One is computed while 32 wait.
  expect([computed, refused.length]).toEqual([33, 467]);
  expect(refused.every((each) => each.status === 'rejected' && each.reason.code === 'overloaded')).toBe(true);
});

test('hashes are computed in the order of their calls, one at a time', async () => {
  const passwords = createPasswords({ cost: { logN: 10, r: 8, p: 1 } });
  const done: number[] = [];
  await Promise.all(
    [0, 1, 2, 3, 4].map(async (index) => {
      await passwords.hash(`${index}`);
      done.push(index);
    }),
  );
  expect(done).toEqual([0, 1, 2, 3, 4]);
});
