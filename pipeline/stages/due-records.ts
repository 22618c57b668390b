/** Selects the records that a stage with its own position has to process, given what the log hands over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log, LogRecord, Topic } from '../ports.js';

/** Long enough for a new leader in Kafka to learn how far the log goes. */
const presentLimitMs = 10_000;
const readAgainAfterMs = 100;

/**
 * Returns the records from `nextOffset` on. When the store has lost its last second and `nextOffset` precedes the given
 * records, returns the missing ones instead; the caller calls again. `records` must not be empty and must be of one
 * partition. Throws when the log returns nothing for ten seconds, although it has handed over later records.
 */
export async function dueRecords(
  log: Pick<Log, 'read' | 'bounds'>,
  topic: Topic,
  nextOffset: number,
  records: readonly LogRecord[],
  maxRecords: number,
): Promise<readonly LogRecord[]> {
  const { partition, offset: first } = records[0] as LogRecord;
  if (nextOffset === first) return records;
  if (nextOffset > first) return records.filter(({ offset }) => offset >= nextOffset);
  const limit = performance.now() + presentLimitMs;
  for (;;) {
    const present = await log.read(topic, partition, nextOffset, maxRecords);
    const missed = present.filter(({ offset }) => offset < first);
    if (missed.length > 0) return missed;
    // An empty answer alone does not prove that the records are gone: skipping them would lose their events.
    if (present.length > 0 || (await log.bounds(topic, partition)).first >= first) return records;
    if (performance.now() > limit)
      throw new Error(`${topic}/${partition} returns nothing at ${nextOffset}, although it handed over ${first}`);
    await delay(readAgainAfterMs);
  }
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
