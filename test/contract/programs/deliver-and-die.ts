/**
 * Commits events with large states, and queues a delivery of each event as soon as it is visible, long before it is on
 * disk. Dies of SIGKILL when the queue is on disk. Arguments: folder, name of the run. Values are `<run>:<offset>`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDeliveryQueue } from '../../../backends/embedded/delivery-queue.js';
import { createLog } from '../../../backends/embedded/log.js';
import { createStateStore } from '../../../backends/embedded/state-store.js';
import { openStorage } from '../../../backends/embedded/storage.js';

const [path, run] = process.argv.slice(2) as [string, string];
const storage = openStorage({ path, partitions: 1 });
const log = createLog(storage);
const stateStore = createStateStore(storage);
const deliveryQueue = createDeliveryQueue(storage);

const owner = await stateStore.claim(0);
const from = owner.nextOffset;
const claim = await deliveryQueue.claim({ topic: 'events', partition: 0 });
const records = Array.from({ length: 10 }, (_, i) => ({ key: 'key', value: Buffer.from(`${run}:${from + i}`) }));
void stateStore.commit(owner, {
  expectedOffset: from,
  nextOffset: from + 10,
  states: new Map(Array.from({ length: 10_000 }, (_, i) => [`device-${i}`, Buffer.alloc(3_000, run)])),
  publish: [{ topic: 'events', records }],
});
while ((await log.bounds('events', 0)).end === from) await nextTurn();

const { records: events } = await log.read('events', 0, claim.nextOffset, 1_000);
await deliveryQueue.add(claim, {
  expectedOffset: claim.nextOffset,
  nextOffset: claim.nextOffset + events.length,
  deliveries: events.map(({ offset, value }) => ({
    webhook: '65f0a1b2c3d4e5f600000001',
    dueAtMs: offset,
    value: value!,
  })),
});
await storage.deliveryEnvironment.flushed();
process.kill(process.pid, 'SIGKILL');
