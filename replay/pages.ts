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

/** An interval of epoch ms: `fromMs` or later, and before `toMs`. */
interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time of a record at the offset. */
export interface Mark {
  readonly offset: number;
  readonly timeMs: number;
}

/**
 * A clock that is set back, or was wrong for a while, makes times that are not in order. So they can't be searched by
 * halves, and reading all of them takes minutes.
 */
const maxMarks = 1_000;

/**
 * Reads the times of at most 1,000 records of the span, evenly spaced, in order of offset.
 * @param timeOf returns epoch ms, or undefined for a record that tells no time.
 */
export async function readMarks(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
  timeOf: (record: LogRecord) => number | undefined,
): Promise<Mark[]> {
  const marks: Mark[] = [];
  const step = Math.max(1, Math.ceil((end - from) / maxMarks));
  for (let offset = from; offset < end; offset += step) {
    const record = await readOne(log, topic, partition, offset);
    if (record === undefined || record.offset >= end) break;
    const timeMs = timeOf(record);
    if (timeMs !== undefined && marks.at(-1)?.offset !== record.offset) marks.push({ offset: record.offset, timeMs });
  }
  return marks;
}

/**
 * Returns the part of the span that has the records of the interval, from the mark before its first one to the mark
 * after its last one. Records are missed only where a clock was wrong for less than the time between two marks.
 */
export function partOf(
  { from, end }: Span,
  marks: readonly Mark[],
  { fromMs, toMs }: Interval,
): Pick<Span, 'from' | 'end'> {
  const begin = marks.findIndex(({ timeMs }) => timeMs >= fromMs);
  const before = begin < 0 ? marks.at(-1) : marks[begin - 1];
  const last = marks.findLastIndex(({ timeMs }) => timeMs < toMs);
  const start = before === undefined ? from : before.offset + 1;
  return { from: start, end: Math.max(start, marks[last + 1]?.offset ?? end) };
}
