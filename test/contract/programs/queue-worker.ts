/**
 * A thread that opens the folder for itself, adds numbered deliveries to the queue of its own source and settles every
 * other one. Worker data: {@link QueueWork}.
 */
import { workerData } from 'node:worker_threads';
import { openEmbedded } from '../../../backends/embedded/embedded.js';

export interface QueueWork {
  readonly path: string;
  readonly partitions: number;
  /** Partition of topic `events`. */
  readonly partition: number;
  readonly webhook: string;
  readonly batches: number;
}

const { path, partitions, partition, webhook, batches } = workerData as QueueWork;
const { deliveryQueue, close } = openEmbedded({ path, partitions });
const source = { topic: 'events', partition } as const;
const claim = await deliveryQueue.claim(source);
for (let batch = 0; batch < batches; batch++) {
  const numbers = Array.from({ length: 10 }, (_, i) => batch * 10 + i);
  const deliveries = numbers.map((n) => ({ webhook, dueAtMs: batch, value: Buffer.from(`${partition}:${n}`) }));
  await deliveryQueue.add(claim, { expectedOffset: batch, nextOffset: batch + 1, deliveries });
  const even = numbers.filter((n) => n % 2 === 0);
  const places = even.map((n) => ({ webhook, dueAtMs: batch, sequence: claim.nextSequence + n }));
  await deliveryQueue.settle(
    claim,
    places.map((place) => ({ place, next: null })),
  );
}
await close();
