/** Selects the records that a stage with its own position has to process, given what the log hands over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log, LogRecord, Topic } from '../ports.js';

/** Long enough for a new leader in Kafka to learn how far the log goes. */
const presentLimitMs = 10_000;
const readAgainAfterMs = 100;

/** Offsets of a partition that the store has lost by falling back. */
interface Missing {
  readonly from: number;
  /** The offset after the last one. */
  readonly end: number;
}

/**
 * Reads the first of the missing records. Returns none when the log no longer has them, or has none at these offsets.
 * Otherwise returns undefined when the log returns nothing for ten seconds: an empty answer alone does not prove that
 * they are gone, and skipping them would lose their events.
 */
async function readMissing(
  log: Pick<Log, 'read' | 'bounds'>,
  topic: Topic,
  partition: number,
  { from, end }: Missing,
  maxRecords: number,
): Promise<readonly LogRecord[] | undefined> {
  const limit = performance.now() + presentLimitMs;
  for (;;) {
    const { records, nextOffset } = await log.read(topic, partition, from, maxRecords);
    const missed = records.filter(({ offset }) => offset < end);
    if (records.length > 0 || nextOffset >= end || (await log.bounds(topic, partition)).first >= end) return missed;
    if (performance.now() > limit) return undefined;
    await delay(readAgainAfterMs);
  }
}

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
  const missed = await readMissing(log, topic, partition, { from: nextOffset, end: first }, maxRecords);
  if (missed === undefined)
    throw new Error(`${topic}/${partition} returns nothing at ${nextOffset}, although it handed over ${first}`);
  return missed.length > 0 ? missed : records;
}

/**
 * Returns the first of the missing records of an idle partition. Returns none when the log no longer has them: it has
 * removed them, or has returned nothing for ten seconds and has therefore lost them as well.
 */
export const missedRecords = async (
  log: Pick<Log, 'read' | 'bounds'>,
  topic: Topic,
  partition: number,
  missing: Missing,
  maxRecords: number,
): Promise<readonly LogRecord[]> => (await readMissing(log, topic, partition, missing, maxRecords)) ?? [];
