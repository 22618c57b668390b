/** Reads topic `events` from a position, for a reader of all projects or of one scope. */
import { type Log, type LogRecord, type LogSlice, topics } from '../../pipeline/ports.js';
import { decodeRecord, isBadRecord } from '../../pipeline/records/decode.js';
import { scopeOfKey } from '../../pipeline/records/device-key.js';
import { codecs, frameBytes } from '../../schemas/codecs.js';
import { createTurns } from '../../schemas/turns.js';
import { eventJson } from '../../schemas/wire/user.js';
import type { Serialize } from '../serialize.js';
import type { Position } from '../stream/position.js';
import { type Bounds, within } from '../stream/start.js';
import type { Start } from './query.js';

/** The progress of a reader in one partition. */
interface PartitionProgress extends Bounds {
  readonly next: number;
  /** Records that were no longer held when they were to be read. */
  readonly missing: number;
}

type TopicRecord = ReturnType<typeof recordJson>;

/** What one read has found. Positions also pass records that the caller may not see. */
export interface Reading {
  readonly partitions: readonly PartitionProgress[];
  readonly records: readonly TopicRecord[];
}

/** Records that one reader of all reads in a turn of the event loop. Each may have 100 kB. */
const maxReadRecords = 25;
const nextTurn = createTurns();
/** Records scanned per request, including those of other scopes. */
const maxScannedRecords = 10_000;

/** Maximum bytes of values in a response, unless a single value is larger. */
const maxResponseBytes = 4 * 2 ** 20;

/**
 * Formats a record as a Kafka client gets it, with its decoded event. An event of an earlier release is encoded again:
 * the route of the schema answers the newest version alone.
 */
function recordJson(record: LogRecord) {
  const { partition, offset, key, timestamp } = record;
  const event = decodeRecord(codecs.event, record);
  const stored = record.value ?? Buffer.alloc(0);
  const isOlder = !isBadRecord(event) && stored.readUInt32BE(1) !== codecs.event.schemaId;
  const value = isOlder ? codecs.event.encode(event) : stored;
  return {
    partition,
    offset,
    key,
    timestamp,
    schemaId: value.length < frameBytes ? null : value.readUInt32BE(1),
    value: value.toString('base64'),
    event: isBadRecord(event) ? null : eventJson(event),
  };
}

async function partitionAt(log: Log, partition: number, start: Start): Promise<PartitionProgress> {
  const bounds = await log.bounds(topics.events, partition);
  const offset = start === 'earliest' ? bounds.first : start === 'latest' ? bounds.end : start;
  return { partition, ...bounds, ...within(bounds, offset) };
}

/**
 * Returns the progress of each partition that is read: of all, or of the given one. `earliest` and `latest` are
 * resolved to offsets.
 */
export const startPartitions = (
  log: Log,
  from: readonly Start[],
  partition: number | null,
): Promise<PartitionProgress[]> =>
  Promise.all(
    [...from.entries()]
      .filter(([each]) => partition === null || each === partition)
      .map(([each, start]) => partitionAt(log, each, start)),
  );

/** Updates the bounds of a partition, and the offset if records are no longer held. */
async function updateBounds(log: Log, progress: PartitionProgress): Promise<PartitionProgress> {
  const now = await partitionAt(log, progress.partition, progress.next);
  return { ...now, missing: progress.missing + now.missing };
}

const unread = ({ next, end }: PartitionProgress): number => end - next;

/** Returns whether the partitions have no unread record. */
export const isAllRead = (partitions: readonly PartitionProgress[]): boolean =>
  partitions.every((each) => unread(each) === 0);

/** Advances to a position if all records before it are read, or are not the reader's. */
export const advanced = (partitions: readonly PartitionProgress[], position: Position): PartitionProgress[] =>
  partitions.map((each) => ({ ...each, next: Math.max(each.next, position[each.partition]!) }));

/** Who reads, and how much. */
export interface Reader {
  /** Visible scope; undefined: all. */
  readonly scope: string | undefined;
  readonly limit: number;
  /** Ends the reading early, with what it has. */
  readonly signal: AbortSignal;
}

/**
 * Reads at most `limit` records of bounded size. Reads from the partition with the most unread records first, so that
 * no partition starves. May return no records although there are more, when all scanned records are of other scopes.
 */
export async function readTopic(
  log: Log,
  serialize: Serialize,
  start: readonly PartitionProgress[],
  { scope, limit, signal }: Reader,
): Promise<Reading> {
  const records: TopicRecord[] = [];
  let partitions = start;
  let scanned = 0;
  let bytes = 0;
  const isFull = (): boolean => records.length === limit || bytes >= maxResponseBytes;

  /** Adds records while they fit. Returns the offset after them. */
  function add(read: LogSlice, from: number): number {
    let next = from;
    for (const record of read.records) {
      if (isFull()) return next;
      next = record.offset + 1;
      if (scope !== undefined && scopeOfKey(record.key) !== scope) continue;
      records.push(recordJson(record));
      bytes += record.value?.length ?? 0;
    }
    return read.nextOffset;
  }

  while (!isFull() && scanned < maxScannedRecords && !signal.aborted) {
    partitions = await Promise.all(partitions.map((each) => updateBounds(log, each)));
    const most = partitions.reduce((one, other) => (unread(other) > unread(one) ? other : one));
    if (unread(most) === 0) break;
    await serialize('read', async () => {
      const next = add(await log.read(topics.events, most.partition, most.next, maxReadRecords), most.next);
      scanned += next - most.next;
      partitions = partitions.map((each) => (each === most ? { ...most, next } : each));
      await nextTurn();
    });
  }
  return { partitions, records };
}
