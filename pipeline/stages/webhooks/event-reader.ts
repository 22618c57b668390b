/**
 * Prepares batches of topic `events` for the fan-out: extends a batch so that it ends with a whole location, and
 * recognises duplicates of events.
 */
import type { Codec } from '../../../schemas/codecs.js';
import type { Event } from '../../../schemas/records.js';
import { type Log, type LogRecord, topics } from '../../ports.js';
import { decodeRecord, isBadRecord } from '../../records/decode.js';

/** Logs cut batches by bytes as well. A smaller batch is not cut: one more record would have fitted. */
const mayBeCutBytes = 2 ** 18;
/** Records read at once to complete a location, and to recall recent events. */
const maxFollowingRecords = 100;
const maxReadRecords = 1_000;

/**
 * Returns the batch. Where it may have been cut, for its records or its bytes, adds the following events of the last
 * event's location. Reading ahead never delays the last location, unlike waiting for a later event.
 */
export async function completeLastLocation(
  log: Pick<Log, 'read'>,
  codec: Codec<Event>,
  records: readonly LogRecord[],
  maxBatchRecords: number,
): Promise<readonly LogRecord[]> {
  const last = records.at(-1);
  if (last === undefined || (records.length < maxBatchRecords && bytesOf(records) < mayBeCutBytes)) return records;
  const locationOf = (record: LogRecord): string | null => {
    const event = record.key === last.key ? decodeRecord(codec, record) : null;
    return event === null || isBadRecord(event) ? null : event.locationId;
  };
  const location = locationOf(last);
  if (location === null) return records;
  const complete = [...records];
  for (;;) {
    const nextOffset = (complete.at(-1) as LogRecord).offset + 1;
    const { records: more } = await log.read(topics.events, last.partition, nextOffset, maxFollowingRecords);
    for (const record of more) {
      if (locationOf(record) !== location) return complete;
      complete.push(record);
    }
    if (more.length === 0) return complete;
  }
}

const bytesOf = (records: readonly LogRecord[]): number =>
  records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);

/**
 * Returns whether the partition holds the event at a lower offset, and remembers the event. The log may hold an event
 * twice: a paused publisher may publish after its successor has, and a state store that fell back makes events again. A
 * delivery made of the duplicate would have the same id but other bytes, because its user is as of now.
 */
export type IsDuplicate = (id: string, offset: number) => boolean;

/** Takes no event for a duplicate. */
export const noDuplicates: IsDuplicate = () => false;

/**
 * Events remembered per partition. A publisher that is paused for longer than these take may cause an event to be
 * delivered again.
 */
const rememberedEvents = 10_000;

/** Creates a filter that remembers up to `limit` events and forgets the oldest first. */
export function createDuplicateFilter(limit = rememberedEvents): IsDuplicate {
  /** First offset of each event, oldest entries first. */
  const offsets = new Map<string, number>();
  return (id, offset) => {
    const first = offsets.get(id) ?? offset;
    if (first < offset) return true;
    offsets.set(id, offset);
    if (offsets.size > limit) offsets.delete(offsets.keys().next().value as string);
    return false;
  };
}

/** Creates a filter that knows the last events before `nextOffset`, whichever process made deliveries of them. */
export async function loadRecentEvents(
  log: Pick<Log, 'read' | 'bounds'>,
  codec: Codec<Event>,
  partition: number,
  nextOffset: number,
): Promise<IsDuplicate> {
  const isDuplicate = createDuplicateFilter();
  const { first } = await log.bounds(topics.events, partition);
  for (let offset = Math.max(first, nextOffset - rememberedEvents); offset < nextOffset; ) {
    const count = Math.min(maxReadRecords, nextOffset - offset);
    const { records } = await log.read(topics.events, partition, offset, count);
    for (const record of records) {
      const event = decodeRecord(codec, record);
      if (!isBadRecord(event)) isDuplicate(event.id, record.offset);
    }
    offset = (records.at(-1)?.offset ?? nextOffset) + 1;
  }
  return isDuplicate;
}
