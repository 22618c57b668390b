/** Reads a range of offsets of a partition in pages, and finds an offset by time. */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { LogRecord, Topic } from '../pipeline/ports.js';
import { readOne } from '../pipeline/positions.js';

export interface Span {
  readonly topic: Topic;
  readonly partition: number;
  /** Offset of the first record. */
  readonly from: number;
  /** Offset after the last record. */
  readonly end: number;
}

const maxPageRecords = 5_000;

/** Yields the records of the span that the log still holds, in order. */
export async function* recordPages(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
): AsyncGenerator<LogRecord[]> {
  for (let offset = from; offset < end; ) {
    const { records } = await log.read(topic, partition, offset, maxPageRecords);
    const page = records.filter((record) => record.offset < end);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    offset = last.offset + 1;
  }
}

/** Returns the offset of the first record of the span that was appended at `timeMs` or later, or the span's end. */
export async function offsetAt(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
  timeMs: number,
): Promise<number> {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const record = await readOne(log, topic, partition, middle);
    if (record === undefined || record.timestamp >= timeMs) high = middle;
    else low = record.offset + 1;
  }
  return low;
}
