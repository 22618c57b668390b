import { describe, expect, test } from 'vitest';
import { minuteMs } from '../../../schemas/durations.js';
import {
  applyStored,
  type EndpointHealth,
  endpointHealthOf,
  hasFailedTooLong,
  isHealthy,
  maxFailingMs,
  recordAttempt,
} from './health.js';
import { webhookRecord } from './testing/webhooks.js';

const fresh = (): EndpointHealth => endpointHealthOf({ failingSinceMs: null, lastSuccessAtMs: null }, 0);

describe('a webhook is healthy', () => {
  test('after a success and until a failure', () => {
    const health = fresh();
    const trusted = [true, true, false, false, true].map((isDelivered) => {
      recordAttempt(health, isDelivered, 1);
      return isHealthy(health);
    });
    expect(isHealthy(fresh())).toBe(false);
    expect(trusted).toEqual([true, true, false, false, true]);
  });
});

describe('health is written', () => {
  test('on each change, and at most once a minute for consecutive successes', () => {
    const health = fresh();
    const tries: [isDelivered: boolean, atMs: number, isWritten: boolean][] = [
      [true, 1, true],
      [true, 2, false],
      [true, minuteMs, false],
      [true, minuteMs + 1, true],
      [false, minuteMs + 2, true],
      [false, 100 * minuteMs, false],
      [true, 101 * minuteMs, true],
    ];
    expect(tries.map(([isDelivered, atMs]) => recordAttempt(health, isDelivered, atMs))).toEqual(
      tries.map(([, , isWritten]) => isWritten),
    );
    expect(health).toMatchObject({ failingSinceMs: null, lastSuccessAtMs: 101 * minuteMs });
  });
});

describe('what other processes have stored', () => {
  test.each([
    ['nothing: the failures go on', [2, null], [null, null], [2, null]],
    ['an earlier failure: it counts', [2, null], [1, null], [1, null]],
    ['an earlier success: the failures go on', [3, 1], [null, 2], [3, 2]],
    ['a later success: the failures begin now', [2, 1], [null, 5], [9, 5]],
    ['a success and a failure after it: the failures begin with that one', [2, 1], [6, 5], [6, 5]],
    ['a failure that a success here has ended: it does not count', [7, 4], [3, null], [7, 4]],
    ['a failure after a success here, whose result is newer', [null, 8], [7, 6], [null, 8]],
  ] as const)('is %s', (_, here, stored, expected) => {
    const healthOf = ([failingSinceMs, lastSuccessAtMs]: readonly [number | null, number | null]) => ({
      failingSinceMs,
      lastSuccessAtMs,
    });
    const health = endpointHealthOf(healthOf(here), 0);
    applyStored(health, healthOf(stored), 9);
    expect(health).toMatchObject(healthOf(expected));
  });
});

describe('a webhook has failed too long', () => {
  const failing = (): EndpointHealth => {
    const health = fresh();
    recordAttempt(health, false, 1_000);
    return health;
  };

  test('after five days of failures only', () => {
    const webhook = webhookRecord({ updatedAt: 0 });
    expect(hasFailedTooLong(failing(), webhook, 1_000 + maxFailingMs - 1)).toBe(false);
    expect(hasFailedTooLong(failing(), webhook, 1_000 + maxFailingMs)).toBe(true);
  });

  test('not within five days of the last edit', () => {
    const webhook = webhookRecord({ updatedAt: 5_000 });
    expect(hasFailedTooLong(failing(), webhook, 1_000 + maxFailingMs)).toBe(false);
    expect(hasFailedTooLong(failing(), webhook, 5_000 + maxFailingMs)).toBe(true);
  });
});
