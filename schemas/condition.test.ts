import { expect, test } from 'vitest';
import { Condition } from './condition.js';

test('a notice wakes all that wait, and nobody who waits later', async () => {
  const condition = new Condition();
  const woken: string[] = [];
  const first = condition.wait().then(() => woken.push('first'));
  const second = condition.wait().then(() => woken.push('second'));
  condition.notifyAll();
  const later = condition.wait().then(() => woken.push('later'));
  await Promise.all([first, second]);
  expect(woken).toEqual(['first', 'second']);
  condition.notifyAll();
  await later;
});

test('a wait ends after its time, and when its signal aborts', async () => {
  const condition = new Condition();
  await condition.wait({ maxMs: 1 });
  await condition.wait({ signal: AbortSignal.abort() });
  const controller = new AbortController();
  const waiting = condition.wait({ signal: controller.signal, maxMs: 600_000 });
  controller.abort();
  await waiting;
});
