/** Reads a range of offsets of a partition in pages, and finds an offset by time. */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { LogRecord, Topic } from '../pipeline/ports.js';
import { readOne } from '../pipeline/positions.js';

/** A range of offsets of one partition. */
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
export interface Sample {
  readonly offset: number;
  readonly timeMs: number;
}

/**
 * A clock that is set back, or was wrong for a while, makes times that are not in order, so they can't be searched by
 * halves. Reading all of them takes minutes. A read of one record fetches 64 kB from Kafka.
 */
const maxSamples = 500;

/**
 * Reads the times of at most 500 records of the span, evenly spaced, in order of offset.
 * @param timeOf returns epoch ms, or undefined for a record that tells no time.
 */
export async function readSamples(
  log: ReadableLog,
  { topic, partition, from, end }: Span,
  timeOf: (record: LogRecord) => number | undefined,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const step = Math.max(1, Math.ceil((end - from) / maxSamples));
  for (let offset = from; offset < end; offset += step) {
    const record = await readOne(log, topic, partition, offset);
    if (record === undefined || record.offset >= end) break;
    const timeMs = timeOf(record);
    if (timeMs !== undefined && samples.at(-1)?.offset !== record.offset)
      samples.push({ offset: record.offset, timeMs });
  }
  return samples;
}

/**
 * Returns the part of the span that has the records of the interval, from the sample before its first one to the sample
 * after its last one. Records are missed only where a clock was wrong for less than the time between two samples.
 */
export function partOf(
  { from, end }: Span,
  samples: readonly Sample[],
  { fromMs, toMs }: Interval,
): Pick<Span, 'from' | 'end'> {
  const begin = samples.findIndex(({ timeMs }) => timeMs >= fromMs);
  const before = begin < 0 ? samples.at(-1) : samples[begin - 1];
  const last = samples.findLastIndex(({ timeMs }) => timeMs < toMs);
  const start = before === undefined ? from : before.offset + 1;
  return { from: start, end: Math.max(start, samples[last + 1]?.offset ?? end) };
}
