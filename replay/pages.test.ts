/** Compares with a log in an array. Offsets have gaps, as in a compacted topic. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import { partOf, readSamples, recordPages, type Span } from './pages.js';

const logOf = (records: readonly LogRecord[]): ReadableLog => ({
  partitions: () => 1,
  bounds: async () => ({ first: records[0]?.offset ?? 0, end: (records.at(-1)?.offset ?? -1) + 1 }),
  async read(_topic, _partition, from, maxRecords) {
    const found = records.filter(({ offset }) => offset >= from).slice(0, maxRecords);
    return { records: found, nextOffset: (found.at(-1)?.offset ?? from - 1) + 1 };
  },
});

/** Times have no order: a clock may be set back, or be wrong for a while. */
const records = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 4 }), timestamp: fc.integer({ min: 0, max: 9 }) }), {
    maxLength: 40,
  })
  .map((steps) => {
    let offset = 10;
    return steps.map(({ gap, timestamp }): LogRecord => {
      offset += gap;
      return { key: 'k', value: null, partition: 0, offset, timestamp };
    });
  });
const within = fc.integer({ min: 0, max: 200 });

const times = fc.integer({ min: 0, max: 10 });

async function wholeSpan(log: ReadableLog): Promise<Span> {
  const { first: from, end } = await log.bounds(topics.locations, 0);
  return { topic: topics.locations, partition: 0, from, end };
}

async function partFor(held: readonly LogRecord[], fromMs: number, toMs: number): Promise<LogRecord[]> {
  const log = logOf(held);
  const span = await wholeSpan(log);
  const samples = await readSamples(log, span, ({ timestamp }) => timestamp);
  const { from, end } = partOf(span, samples, { fromMs, toMs });
  return held.filter(({ offset }) => offset >= from && offset < end);
}

test('the part for an interval begins with its first record and ends with its last one', async () => {
  await fc.assert(
    fc.asyncProperty(records, times, times, async (held, fromMs, toMs) => {
      const part = await partFor(held, fromMs, toMs);
      const isWithin = ({ timestamp }: LogRecord) => timestamp >= fromMs && timestamp < toMs;
      expect(part.filter(isWithin)).toEqual(held.filter(isWithin));
      if (part.length === 0) return;
      expect(part[0]).toBe(held.find(({ timestamp }) => timestamp >= fromMs));
      expect(part.at(-1)).toBe(held.findLast(({ timestamp }) => timestamp < toMs));
    }),
  );
});

// A search by halves met a record of that hour, and a replay of the next day read nothing.
test('a clock that was a year ahead for an hour hides no later record', async () => {
  const [hour, day] = [60, 24 * 60];
  const held = Array.from({ length: 2 * day }, (_, minute): LogRecord => {
    const isAhead = Math.abs(minute - day) <= hour / 2;
    const timestamp = minute + (isAhead ? 365 * day : 0);
    return { key: 'k', value: null, partition: 0, offset: minute, timestamp };
  });
  const [from, to] = [day + 2 * hour, day + 3 * hour];
  const part = await partFor(held, from, to);
  expect(part.filter(({ timestamp }) => timestamp >= from && timestamp < to)).toHaveLength(hour);
  // An old hour of a large log costs little.
  expect((await partFor(held, hour, 2 * hour)).length).toBeLessThan(2 * hour);
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
