import { describe, expect, test } from 'vitest';
import { type Condition, conditionOf, isHopeless, isTrusted, maxFailingMs, noteTry } from './health.js';
import { webhookRecord } from './testing/webhooks.js';

const minuteMs = 60_000;
const fresh = (): Condition => conditionOf({ failingSinceMs: null, lastSuccessAtMs: null }, 0);

describe('trust', () => {
  test('is earned by a success and lost by a failure', () => {
    const condition = fresh();
    const trusted = [true, true, false, false, true].map((isDelivered) => {
      noteTry(condition, isDelivered, 1);
      return isTrusted(condition);
    });
    expect(isTrusted(fresh())).toBe(false);
    expect(trusted).toEqual([true, true, false, false, true]);
  });
});

describe('health is written', () => {
  test('at each turn, and of a success after another once a minute', () => {
    const condition = fresh();
    const tries: [isDelivered: boolean, atMs: number, isWritten: boolean][] = [
      [true, 1, true],
      [true, 2, false],
      [true, minuteMs, false],
      [true, minuteMs + 1, true],
      [false, minuteMs + 2, true],
      [false, 100 * minuteMs, false],
      [true, 101 * minuteMs, true],
    ];
    expect(tries.map(([isDelivered, atMs]) => noteTry(condition, isDelivered, atMs))).toEqual(
      tries.map(([, , isWritten]) => isWritten),
    );
    expect(condition).toMatchObject({ failingSinceMs: null, lastSuccessAtMs: 101 * minuteMs });
  });
});

describe('a webhook is hopeless', () => {
  const failing = (): Condition => {
    const condition = fresh();
    noteTry(condition, false, 1_000);
    return condition;
  };

  test('after five days of nothing but failure', () => {
    const webhook = webhookRecord({ updatedAt: 0 });
    expect(isHopeless(failing(), webhook, 1_000 + maxFailingMs - 1)).toBe(false);
    expect(isHopeless(failing(), webhook, 1_000 + maxFailingMs)).toBe(true);
  });

  test('not before its owner has had as long since the last edit', () => {
    const webhook = webhookRecord({ updatedAt: 5_000 });
    expect(isHopeless(failing(), webhook, 1_000 + maxFailingMs)).toBe(false);
    expect(isHopeless(failing(), webhook, 5_000 + maxFailingMs)).toBe(true);
  });
});
