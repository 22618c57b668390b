/** Reads topic `events` from places on, for whoever may see all of it or one project and environment. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, type LogRecord, topics } from '../../pipeline/ports.js';
import { decodeRecord } from '../../pipeline/records/decode.js';
import { codecs, frameBytes } from '../../schemas/codecs.js';
import { eventJson } from '../../schemas/wire/user.js';
import type { Serialize } from '../serialize.js';
import { scopeOfKey } from '../stream/scopes.js';
import { type Bounds, within } from '../stream/start.js';
import type { Start } from './query.js';

/** A partition, and how far it is read. */
export interface Place extends Bounds {
  readonly next: number;
  /** Records that were gone when they were to be read. */
  readonly missing: number;
}

export type TopicRecord = ReturnType<typeof recordJson>;

export interface Reading {
  readonly places: readonly Place[];
  readonly records: readonly TopicRecord[];
}

/** About two milliseconds of work; then others on this thread get their turn. */
const maxReadRecords = 200;
/** Of other projects' records so many are passed over before the reader is answered. */
const maxPassedRecords = 10_000;

/** Of the values that a reader is answered at once, at most, unless a single one is larger. */
const maxAnsweredBytes = 4 * 2 ** 20;

/** A record as a Kafka client would get it, and what is in it. */
function recordJson(record: LogRecord) {
  const { partition, offset, key, timestamp } = record;
  const value = record.value ?? Buffer.alloc(0);
  const event = decodeRecord(codecs.event, record);
  return {
    partition,
    offset,
    key,
    timestamp,
    schemaId: value.length < frameBytes ? null : value.readUInt32BE(1),
    value: value.toString('base64'),
    event: 'reason' in event ? null : eventJson(event),
  };
}

async function placeIn(log: Log, partition: number, start: Start): Promise<Place> {
  const bounds = await log.bounds(topics.events, partition);
  const asked = start === 'earliest' ? bounds.first : start === 'latest' ? bounds.end : start;
  return { partition, ...bounds, ...within(bounds, asked) };
}

export const placesFrom = (log: Log, from: readonly Start[], partition: number | null): Promise<Place[]> =>
  Promise.all(
    [...from.entries()]
      .filter(([each]) => partition === null || each === partition)
      .map(([each, start]) => placeIn(log, each, start)),
  );

/** The place within what the topic holds now. */
async function refreshed(log: Log, place: Place): Promise<Place> {
  const now = await placeIn(log, place.partition, place.next);
  return { ...now, missing: place.missing + now.missing };
}

const unread = ({ next, end }: Place): number => end - next;

export const isAllRead = (places: readonly Place[]): boolean => places.every((place) => unread(place) === 0);

export interface Reader {
  /** The scope that it may see; undefined: all. */
  readonly scope: string | undefined;
  readonly limit: number;
}

/**
 * Answers at most `limit` records, of a bounded number of bytes, from the partition first that has the most to read: so
 * no partition waits forever. Where all of what was passed over is others', there may be none although there is more.
 */
export async function readTopic(
  log: Log,
  serialize: Serialize,
  start: readonly Place[],
  { scope, limit }: Reader,
): Promise<Reading> {
  const records: TopicRecord[] = [];
  let places = start;
  let passed = 0;
  let bytes = 0;
  const isFull = (): boolean => records.length === limit || bytes >= maxAnsweredBytes;

  /** Takes what there is room for; answers the offset after it. */
  function take(read: readonly LogRecord[], from: number): number {
    let next = from;
    for (const record of read) {
      if (isFull()) break;
      next = record.offset + 1;
      passed += 1;
      if (scope !== undefined && scopeOfKey(record.key) !== scope) continue;
      records.push(recordJson(record));
      bytes += record.value?.length ?? 0;
    }
    return next;
  }

  while (!isFull() && passed < maxPassedRecords) {
    places = await Promise.all(places.map((place) => refreshed(log, place)));
    const most = places.reduce((one, other) => (unread(other) > unread(one) ? other : one));
    if (unread(most) === 0) break;
    await serialize('read', async () => {
      const next = take(await log.read(topics.events, most.partition, most.next, maxReadRecords), most.next);
      places = places.map((place) => (place === most ? { ...most, next } : place));
      await nextTurn();
    });
  }
  return { places, records };
}
