import { expect, it } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import type { Attempt } from '../../../schemas/records.js';
import { Background } from '../background.js';
import { AcknowledgementBatcher, type EndedDelivery } from './acknowledgement-batcher.js';

const delivery = { body: Buffer.from('{}') } as Attempt['delivery'];
const attempt = { result: 'delivered', duration_ms: 1, delivery } as Attempt;

/** A delivery whose queue and source accept everything. */
const ended = (): EndedDelivery =>
  ({
    attempt,
    endpoint: { id: 'webhook' },
    loaded: { place: 1, attempts: 0 },
    nextDueAtMs: null,
    queue: { source: { acknowledge: async () => true, end: () => {} }, acknowledged: () => {} },
  }) as unknown as EndedDelivery;

// It waited until nothing was pending. At thousands of attempts a second something always was, so webhooks that were
// enabled again waited as well.
it('is flushed once everything added before is acknowledged, although attempts go on ending', async () => {
  let acknowledged = 0;
  let isBusy = true;
  const failures: unknown[] = [];
  const background = new Background((error) => failures.push(error));
  const batcher = new AcknowledgementBatcher({
    log: { append: async () => {} },
    codec: { ...codecs.attempt, encode: () => Buffer.alloc(0) },
    metrics: { add: () => {}, observe: () => {} },
    onAcknowledged(batch) {
      acknowledged += batch.length;
      if (isBusy) batcher.add(ended());
    },
    background,
  });
  batcher.add(ended());
  batcher.add(ended());
  await batcher.flushed();
  expect(acknowledged).toBe(2);
  isBusy = false;
  await batcher.flushed();
  await background.idle();
  expect([acknowledged, failures]).toEqual([3, []]);
});
