/** Uses every function of a log on any Kafka. */
import { expect } from 'vitest';
import type { Log, Subscription } from '../../../pipeline/ports.js';
import { until } from '../../../testing/until.js';
import { record, textOf } from '../../contract/backend.js';

/**
 * Appends to topic `events`, which must be unused, reads it and follows it, in group `test` and alone. Returns the
 * subscriptions.
 */
export async function useLog(log: Log): Promise<Subscription[]> {
  await log.append('events', [record('a', '1')]);
  const partition = log.partitionOf('events', 'a');
  expect((await log.read('events', partition, 0, 10)).records.map(textOf)).toEqual(['1']);
  expect(await log.bounds('events', partition)).toEqual({ first: 0, end: 1 });
  const received: unknown[] = [];
  const subscriptions = ['test', null].map((group) =>
    log.consume({
      topic: 'events',
      group,
      maxBatchRecords: 10,
      maxWaitMs: 0,
      handler: {
        assigned: async () => 0,
        records: async (_, records) => void received.push(group, ...records.map(textOf)),
        revoked: async () => {},
      },
    }),
  );
  await until(() => received.length === 4);
  return subscriptions;
}
