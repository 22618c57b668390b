/** Reading a partition of a log from one place to another, so many records at a time, and finding the place by time. */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { LogRecord, Topic } from '../pipeline/ports.js';

export interface Span {
  readonly topic: Topic;
  readonly partition: number;
  /** Offset of the first record. */
  readonly from: number;
  /** Offset after the last one. */
  readonly end: number;
}

const maxPageRecords = 5_000;

/** The records of the span that are still held, in their order. */
export async function* recordPages(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
): AsyncGenerator<LogRecord[]> {
  for (let offset = from; offset < end; ) {
    const records = await log.read(topic, partition, offset, maxPageRecords);
    const page = records.filter((record) => record.offset < end);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    offset = last.offset + 1;
  }
}

/** Offset of the first record of the span that was appended at `timeMs` or later; the span's end when there is none. */
export async function offsetAt(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
  timeMs: number,
): Promise<number> {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await log.read(topic, partition, middle, 1);
    if (record === undefined || record.timestamp >= timeMs) high = middle;
    else low = record.offset + 1;
  }
  return low;
}
