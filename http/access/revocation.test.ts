import { expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../../testing/garbage.js';
import { until } from '../../testing/until.js';
import { createTestServer } from '../testing/server.js';
import { endingOf } from './revocation.js';

// Node 20 keeps a signal of `AbortSignal.any` that has a listener, even after it has aborted. Each long poll that
// waited added 17 kB, until the node had no memory left.
test('regression: a request that listened for its end stayed in memory', async () => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  const reasons: unknown[] = [];
  let ending: WeakRef<AbortSignal> | undefined;
  app.get('/', { config: { authority: 'none' } }, async (request, reply) => {
    const signal = endingOf(request, reply);
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    ending = new WeakRef(signal);
    return {};
  });
  await app.inject('/');
  await until(() => reasons.length === 1);
  expect(reasons).toEqual([expect.objectContaining({ message: 'the client has left' })]);
  // The reason has the stack of the abort.
  reasons.length = 0;
  await until(() => {
    collectGarbage();
    return ending!.deref() === undefined;
  });
});
