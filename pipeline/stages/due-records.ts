/** Selects the records that a stage with its own position has to process, given what the log hands over. */
import type { Log, LogRecord, Topic } from '../ports.js';

/**
 * Returns the records from `nextOffset` on. When the store has lost its last second and `nextOffset` precedes the given
 * records, returns the missing ones instead; the caller calls again. `records` must not be empty and must be of one
 * partition.
 */
export async function dueRecords(
  log: Pick<Log, 'read'>,
  topic: Topic,
  nextOffset: number,
  records: readonly LogRecord[],
  maxRecords: number,
): Promise<readonly LogRecord[]> {
  const { partition, offset: first } = records[0] as LogRecord;
  if (nextOffset === first) return records;
  if (nextOffset > first) return records.filter(({ offset }) => offset >= nextOffset);
  const before = await log.read(topic, partition, nextOffset, maxRecords);
  const missed = before.filter(({ offset }) => offset < first);
  return missed.length > 0 ? missed : records;
}

/**
 * Reads the records that a store has lost by falling back: from `from` to before `end`. Returns none when the log no
 * longer has them.
 */
export async function missedRecords(
  log: Pick<Log, 'read'>,
  topic: Topic,
  partition: number,
  { from, end }: { readonly from: number; readonly end: number },
  maxRecords: number,
): Promise<readonly LogRecord[]> {
  const records = await log.read(topic, partition, from, maxRecords);
  return records.filter(({ offset }) => offset < end);
}
