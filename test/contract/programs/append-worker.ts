/**
 * A thread that opens the folder for itself and appends numbered records, and commits to its partition. Worker data as
 * in {@link Work}.
 */
import { workerData } from 'node:worker_threads';
import { openEmbedded } from '../../../backends/embedded/embedded.js';

export interface Work {
  readonly path: string;
  readonly partitions: number;
  readonly writer: number;
  readonly batches: number;
}

const { path, partitions, writer, batches } = workerData as Work;
const embedded = openEmbedded({ path, partitions });
const claim = await embedded.stateStore.claim(writer);
for (let batch = 0; batch < batches; batch++) {
  const records = Array.from({ length: 10 }, (_, i) => ({
    key: `key-${i % 3}`,
    value: Buffer.from(`${writer}:${batch * 10 + i}`),
  }));
  const commit = { expectedOffset: batch, nextOffset: batch + 1, states: new Map([['last', Buffer.from(`${batch}`)]]) };
  await Promise.all([
    embedded.log.append('locations', records),
    embedded.stateStore.commit(claim, { ...commit, publish: [{ topic: 'events', records }] }),
  ]);
}
await embedded.close();
