/** The events of one location stay together where a batch ends. */
import type { Codec } from '../../../schemas/codecs.js';
import type { Event } from '../../../schemas/records.js';
import { type Log, type LogRecord, topics } from '../../ports.js';
import { decodeRecord, isBadRecord } from '../../records/decode.js';

const readAtOnce = 100;

/**
 * The batch, and, where it may have been cut for being full, what follows of the location that its last event is of.
 * Reading on beats holding the last location back: nothing need come after it for it to go out.
 */
export async function withRestOfLocation(
  log: Pick<Log, 'read'>,
  codec: Codec<Event>,
  records: readonly LogRecord[],
  maxBatchRecords: number,
): Promise<readonly LogRecord[]> {
  const last = records.at(-1);
  if (last === undefined || records.length < maxBatchRecords) return records;
  const locationOf = (record: LogRecord): string | null => {
    const event = record.key === last.key ? decodeRecord(codec, record) : null;
    return event === null || isBadRecord(event) ? null : event.locationId;
  };
  const location = locationOf(last);
  if (location === null) return records;
  const whole = [...records];
  for (;;) {
    const more = await log.read(topics.events, last.partition, (whole.at(-1) as LogRecord).offset + 1, readAtOnce);
    for (const record of more) {
      if (locationOf(record) !== location) return whole;
      whole.push(record);
    }
    if (more.length === 0) return whole;
  }
}
