/** Compares with a log in an array. Offsets have gaps, as in a compacted topic. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import { offsetAt, recordPages } from './pages.js';

const logOf = (records: readonly LogRecord[]): ReadableLog => ({
  partitions: () => 1,
  bounds: async () => ({ first: records[0]?.offset ?? 0, end: (records.at(-1)?.offset ?? -1) + 1 }),
  async read(_topic, _partition, from, maxRecords) {
    const found = records.filter(({ offset }) => offset >= from).slice(0, maxRecords);
    return { records: found, nextOffset: (found.at(-1)?.offset ?? from - 1) + 1 };
  },
});

/** Offsets and times that never decrease. */
const records = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 4 }), ms: fc.integer({ min: 0, max: 3 }) }), { maxLength: 40 })
  .map((steps) => {
    let [offset, timestamp] = [10, 100];
    return steps.map(({ gap, ms }): LogRecord => {
      offset += gap;
      timestamp += ms;
      return { key: 'k', value: null, partition: 0, offset, timestamp };
    });
  });
const within = fc.integer({ min: 0, max: 200 });

test('finds the first record appended at a time or later', async () => {
  await fc.assert(
    fc.asyncProperty(records, within, async (held, timeMs) => {
      const log = logOf(held);
      const { first: from, end } = await log.bounds(topics.locations, 0);
      const found = await offsetAt(log, { topic: topics.locations, partition: 0, from, end }, timeMs);
      const [record] = (await log.read(topics.locations, 0, found, 1)).records;
      expect(record).toBe(held.find(({ timestamp }) => timestamp >= timeMs));
    }),
  );
});

test('pages contain the records of the span, each once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(records, within, within, async (held, from, end) => {
      const read: LogRecord[] = [];
      for await (const page of recordPages(logOf(held), { topic: topics.locations, partition: 0, from, end }))
        read.push(...page);
      expect(read).toEqual(held.filter(({ offset }) => offset >= from && offset < end));
    }),
  );
});
