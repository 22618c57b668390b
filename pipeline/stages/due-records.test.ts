/** Records that a stage has to process after its store has lost the last second. */
import { expect, test } from 'vitest';
import type { LogRecord } from '../ports.js';
import { dueRecords, missedRecords } from './due-records.js';

const record = (offset: number): LogRecord => ({
  partition: 0,
  offset,
  key: 'a',
  value: Buffer.from(`${offset}`),
  timestamp: 0,
});

/** A log with the offsets from `first` to before `end`, whose first reads return nothing. */
function log(first: number, end: number, emptyReads: number) {
  let reads = 0;
  return {
    read: async (_topic: string, _partition: number, offset: number, maxRecords: number) => {
      reads += 1;
      if (reads <= emptyReads) return { records: [], nextOffset: offset };
      const from = Math.max(first, offset);
      const records = Array.from({ length: Math.min(maxRecords, end - from) }, (_, index) => record(from + index));
      return { records, nextOffset: from + records.length };
    },
    bounds: async () => ({ first, end }),
  };
}
const offsetsOf = (records: readonly LogRecord[]) => records.map(({ offset }) => offset);

// A machine died that held the leader of the partition and the states. The new leader did not know yet how far the log
// goes, and returned nothing. The stage went on with the records that it had, and the lost second stayed lost.
test('records that a new leader does not return at once are not skipped', async () => {
  const due = await dueRecords(log(0, 10, 3), 'locations', 5, [record(8), record(9)], 100);
  expect(offsetsOf(due)).toEqual([5, 6, 7]);
});

// It waited ten seconds for each, and a partition with nothing after the marker was idle meanwhile.
test('offsets that never held a record are not waited for', async () => {
  let reads = 0;
  const marker = {
    async read() {
      reads += 1;
      return { records: [], nextOffset: 8 };
    },
    bounds: async () => ({ first: 0, end: 8 }),
  };
  expect(await missedRecords(marker, 'locations', 0, { from: 7, end: 8 }, 100)).toEqual([]);
  expect(reads).toBe(1);
});

test('records that the log no longer has are passed over', async () => {
  const given = [record(8), record(9)];
  expect(await dueRecords(log(8, 10, 0), 'locations', 5, given, 100)).toBe(given);
  expect(await dueRecords(log(10, 10, Number.POSITIVE_INFINITY), 'locations', 5, given, 100)).toBe(given);
});

// The same of an idle partition: the first empty answer counted as proof, and the locations waited for the next one.
test('records of an idle partition that a new leader does not return at once are not skipped', async () => {
  const missed = await missedRecords(log(0, 10, 3), 'locations', 0, { from: 5, end: 8 }, 100);
  expect(offsetsOf(missed)).toEqual([5, 6, 7]);
});

test('an idle partition has missed no records that the log has removed', async () => {
  expect(await missedRecords(log(8, 10, 0), 'locations', 0, { from: 5, end: 8 }, 100)).toEqual([]);
  const empty = log(10, 10, Number.POSITIVE_INFINITY);
  expect(await missedRecords(empty, 'locations', 0, { from: 5, end: 8 }, 100)).toEqual([]);
});
