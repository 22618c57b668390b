/**
 * Appends to both topics of deliveries, queues a delivery of each record, and settles waiting deliveries until it is
 * killed. Arguments: folder, name of the run. The value of a record and of its delivery is `<run>:<offset>`.
 *
 * Lines: `added <topic> <nextOffset>`, and `settling` or `settled <topic> <value>…` before and after.
 */
import { writeSync } from 'node:fs';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import type { DeliveryClaim, DeliverySource } from '../../../pipeline/ports.js';

const [path, run] = process.argv.slice(2) as [string, string];
const { log, stateStore, deliveryQueue } = openEmbedded({ path, partitions: 1 });
const webhooks = ['65f0a1b2c3d4e5f600000001', '65f0a1b2c3d4e5f600000002'];

/** Writes past Node's buffers, so that a line is written when this returns. */
const print = (line: string): void => void writeSync(1, `${line}\n`);

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: 'key', value: Buffer.from(`${run}:${from + i}`) }));

async function commitEvents(): Promise<never> {
  const claim = await stateStore.claim(0);
  for (let offset = claim.nextOffset; ; offset += 10) {
    const states = new Map([[`device-${(offset / 10) % 500}`, Buffer.alloc(2_000, `${offset}`)]]);
    const publish = [{ topic: 'events' as const, records: numbered(offset, 10) }];
    await stateStore.commit(claim, { expectedOffset: offset, nextOffset: offset + 10, states, publish });
  }
}

async function askForDeliveries(): Promise<never> {
  for (;;) {
    const { end } = await log.bounds('deliveries', 0);
    await log.append('deliveries', numbered(end, 10));
  }
}

async function settleSome(claim: DeliveryClaim, webhook: string): Promise<void> {
  const waiting = await deliveryQueue.waiting(claim.source, webhook, 30);
  // Every third delivery waits for a second attempt first.
  const again = waiting.filter(({ sequence, attempts }) => sequence % 3 === 0 && attempts === 0);
  const gone = waiting.filter((each) => !again.includes(each));
  const values = gone.map(({ value }) => value.toString()).join(' ');
  print(`settling ${claim.source.topic} ${values}`);
  await deliveryQueue.settle(claim, [
    ...gone.map((place) => ({ place, next: null })),
    ...again.map((place) => ({ place, next: { dueAtMs: place.dueAtMs + 50, attempts: 1 } })),
  ]);
  print(`settled ${claim.source.topic} ${values}`);
}

async function deliver(source: DeliverySource): Promise<never> {
  const claim = await deliveryQueue.claim(source);
  for (let offset = claim.nextOffset; ; ) {
    const { records, nextOffset } = await log.read(source.topic, 0, offset, 50);
    const deliveries = records.map(({ offset: dueAtMs, value }) => ({
      webhook: webhooks[dueAtMs % 2]!,
      dueAtMs,
      value: value!,
    }));
    const result = await deliveryQueue.add(claim, { expectedOffset: offset, nextOffset, deliveries });
    if (result !== 'committed') throw new Error('fenced without a rival');
    print(`added ${source.topic} ${nextOffset}`);
    offset = nextOffset;
    for (const webhook of webhooks) await settleSome(claim, webhook);
  }
}

const sources = (['events', 'deliveries'] as const).map((topic): DeliverySource => ({ topic, partition: 0 }));
await Promise.all([commitEvents(), askForDeliveries(), ...sources.map(deliver)]);
