/**
 * Events that the log has once more, under the same id: who was paused while it published may do so late, when its
 * successor has, and a store that fell back has them made again. A delivery made of such a repeat would have the id of
 * the first and other bytes, for its user is as of now.
 */
import type { Codec } from '../../../schemas/codecs.js';
import type { Event } from '../../../schemas/records.js';
import { type Log, topics } from '../../ports.js';
import { decodeRecord, isBadRecord } from '../../records/decode.js';

/** Whether the partition has the event at a lower offset. What is asked about is remembered. */
export type IsRepeat = (id: string, offset: number) => boolean;

export const noRepeats: IsRepeat = () => false;

/**
 * Of a partition. A process that is paused for longer than it takes to make so many events may have one delivered anew.
 */
const rememberedEvents = 10_000;
const readAtOnce = 1_000;

export function rememberEvents(limit = rememberedEvents): IsRepeat {
  /** Their first offsets, the longest remembered first. */
  const offsets = new Map<string, number>();
  return (id, offset) => {
    const first = offsets.get(id) ?? offset;
    if (first < offset) return true;
    offsets.set(id, offset);
    if (offsets.size > limit) offsets.delete(offsets.keys().next().value as string);
    return false;
  };
}

/** Knows the last events before `nextOffset`, whoever made deliveries of them. */
export async function recallEvents(
  log: Pick<Log, 'read' | 'bounds'>,
  codec: Codec<Event>,
  partition: number,
  nextOffset: number,
): Promise<IsRepeat> {
  const isRepeat = rememberEvents();
  const { first } = await log.bounds(topics.events, partition);
  for (let offset = Math.max(first, nextOffset - rememberedEvents); offset < nextOffset; ) {
    const records = await log.read(topics.events, partition, offset, Math.min(readAtOnce, nextOffset - offset));
    for (const record of records) {
      const event = decodeRecord(codec, record);
      if (!isBadRecord(event)) isRepeat(event.id, record.offset);
    }
    offset = (records.at(-1)?.offset ?? nextOffset) + 1;
  }
  return isRepeat;
}
