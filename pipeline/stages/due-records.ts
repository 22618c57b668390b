/** What a stage with positions of its own has to work on, given what the log hands over. */
import type { Log, LogRecord, Topic } from '../ports.js';

/**
 * Of the records handed over, those from `nextOffset` on. An owner thrown back before them, by a store that lost its
 * last second, gets what comes before instead, and asks again. `records` must hold one at least, all of one partition.
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
 * What a store that fell back has forgotten, while nothing is handed over: records from `from` to before `end`; none
 * when the log has none of them any more.
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
