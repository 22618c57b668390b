import { expect, test } from 'vitest';
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { LogRecord } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import { hourMs, minuteMs } from '../schemas/durations.js';
import { exampleEvent } from '../schemas/testing/examples.js';
import { encodeFirstVersion } from '../schemas/testing/older-events.js';
import { recordedEvents } from './recorded-events.js';

const startMs = Date.UTC(2025, 5, 2);
/** In the middle of the range that is read. */
const upgradedAtMs = startMs + hourMs + minuteMs / 2;
const { project, environment } = exampleEvent();

/** An event a second for ten hours, and conversions among them. */
const records = Array.from({ length: 36_000 }, (_, offset): LogRecord => {
  const actualCreatedAt = startMs + offset * 1_000;
  const type = offset % 3 === 2 ? 'user.conversion' : 'user.entered_geofence';
  const encode = startMs + offset * 1_000 < upgradedAtMs ? encodeFirstVersion : codecs.event.encode;
  const value = encode(exampleEvent({ id: `${offset}`.padStart(24, '0'), type, actualCreatedAt }));
  return { key: `${project}/${environment}/device`, value, partition: 0, offset, timestamp: actualCreatedAt };
});

// The replay of an old minute read all events until now, twice.
test('the events of a range are read without those that are long after it', async () => {
  let endRead = 0;
  const log: ReadableLog = {
    partitions: () => 1,
    bounds: async () => ({ first: 0, end: records.length }),
    read: async (_topic, _partition, from, maxRecords) => {
      const read = records.slice(from, from + maxRecords);
      // The search for the first event reads one record at a time.
      if (maxRecords > 1) endRead = Math.max(endRead, from + read.length);
      return { records: read, nextOffset: from + read.length };
    },
  };
  const range = { fromMs: startMs + hourMs, toMs: startMs + hourMs + minuteMs };
  const found: number[] = [];
  for await (const page of recordedEvents(log, { project, environment }, 0, range))
    found.push(...page.map(({ actualCreatedAt }) => (actualCreatedAt - range.fromMs) / 1_000));
  expect(found).toEqual(Array.from({ length: 60 }, (_, second) => second).filter((second) => second % 3 !== 2));
  expect(endRead).toBeLessThan(records.length / 2);
});
