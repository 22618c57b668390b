/**
 * Detects whether a log is still the one that a position was taken from.
 *
 * A broker that lost its newest records, or was restored from an older disk, assigns their offsets to other records.
 * Each stored position therefore has a mark of the last record before it. If the log ends before the position, or has
 * another record there, the histories differ, and reading must not continue from the position.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyForMark } from '../schemas/codecs.js';
import type { Divergence, ExpiredRecords, Log, LogRecord, Position, Topic } from './ports.js';

/** A parsed mark. */
interface Mark {
  readonly offset: number;
  /** -1 if the log has no leader epochs. */
  readonly leaderEpoch: number;
  readonly timestamp: number;
  readonly hash: string;
}

const noEpoch = -1;
const hashCharacters = 16;
/** A newly elected leader may report too small an end of the log for a moment. */
const defaultBeyondEndMs = 3_000;
const lookAgainMs = 250;

/**
 * Returns the mark of a record: offset, leader epoch, timestamp, and a hash of key and value.
 */
export function markOf(record: LogRecord): string {
  return [record.offset, record.leaderEpoch ?? noEpoch, record.timestamp, hashOf(record)].join(':');
}

/** Returns the position after the record. */
export const positionAfter = (record: LogRecord): Position => ({ offset: record.offset + 1, mark: markOf(record) });

/** Converts the result of a handler to a position. */
export const asPosition = (position: number | Position): Position =>
  typeof position === 'number' ? { offset: position, mark: null } : position;

/** Returns whether both positions were taken after the same record. */
export const isSamePosition = (one: Position, other: Position): boolean =>
  one.offset === other.offset && one.mark === other.mark;

/**
 * Hashes the key and the value, without what differs between readers: the frame header, because the registry's schema
 * ids differ from the fixed ones, and the version of the record.
 */
function hashOf({ key, value }: LogRecord): string {
  const hash = createHash('sha1').update(key);
  if (value !== null) hash.update('\0').update(bodyForMark(value));
  return hash.digest('hex').slice(0, hashCharacters);
}

/** A slash and what else the owner of the position stores may follow. */
const markPattern = /^(\d+):(-?\d+):(\d+(?:\.\d+)?):([0-9a-f]+)(?:\/.*)?$/;

function parseMark(text: string | null): Mark | undefined {
  const [, offset, leaderEpoch, timestamp, hash] = markPattern.exec(text ?? '') ?? [];
  if (hash === undefined) return undefined;
  return { offset: Number(offset), leaderEpoch: Number(leaderEpoch), timestamp: Number(timestamp), hash };
}

const isSame = (record: LogRecord, { timestamp, hash }: Mark): boolean =>
  record.timestamp === timestamp && hashOf(record) === hash;

/** Within one history neither leader epochs nor timestamps decrease. */
const isNewer = ({ timestamp, leaderEpoch = noEpoch }: LogRecord, mark: Mark): boolean =>
  timestamp > mark.timestamp || leaderEpoch > mark.leaderEpoch;

/** How long to wait before a position beyond the end of the log counts as diverged. */
export interface DivergenceOptions {
  /** Time to wait for a newly elected leader to report the end of its log. */
  readonly beyondEndMs?: number;
  /** Returning false ends the wait. */
  readonly isWanted?: () => boolean;
}

type ReadableLog = Pick<Log, 'read' | 'bounds'>;
/** Returns the first record of a partition from an offset on; undefined when none follows. */
type Read = (offset: number) => Promise<LogRecord | undefined>;

/** Returns the first record from the offset on; undefined when none follows. */
export async function readOne(
  log: Pick<Log, 'read'>,
  topic: Topic,
  partition: number,
  offset: number,
): Promise<LogRecord | undefined> {
  const { records } = await log.read(topic, partition, offset, 1);
  return records[0];
}

/**
 * Returns the point where the log diverges from the position, or undefined if no difference is found.
 */
export async function findDivergence(
  log: ReadableLog,
  topic: Topic,
  partition: number,
  position: Position,
  { beyondEndMs = defaultBeyondEndMs, isWanted = () => true }: DivergenceOptions = {},
): Promise<Divergence | undefined> {
  const deadlineMs = performance.now() + beyondEndMs;
  let bounds = await log.bounds(topic, partition);
  while (position.offset > bounds.end && performance.now() < deadlineMs && isWanted()) {
    await delay(lookAgainMs);
    bounds = await log.bounds(topic, partition);
  }
  const isBeyond = position.offset > bounds.end;
  const read: Read = (offset) => readOne(log, topic, partition, offset);
  const commonEnd = await endOfCommonHistory(read, position, bounds);
  if (!isBeyond && commonEnd === position.offset) return undefined;
  const record = commonEnd !== undefined && commonEnd < bounds.end ? await read(commonEnd) : undefined;
  return {
    topic,
    partition,
    position,
    ...bounds,
    commonEnd: commonEnd ?? null,
    leaderEpoch: record?.leaderEpoch ?? null,
  };
}

/**
 * Returns an offset up to which the histories agree: the position itself if no difference is found, undefined if
 * unknown. The offset is never beyond the point of divergence: repeated records are recognised, skipped ones are lost.
 */
async function endOfCommonHistory(
  read: Read,
  { offset, mark: text }: Position,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<number | undefined> {
  const mark = parseMark(text);
  const last = Math.min(offset, end);
  // No record before the position is left to compare, or the position has no mark.
  if (mark === undefined || mark.offset >= offset || last <= first) return last;
  const isWithin = mark.offset < end;
  const record = isWithin ? await read(mark.offset) : undefined;
  const isThere = record?.offset === mark.offset;
  if (isThere && isSame(record, mark)) return last;
  if (isWithin && mark.offset < first) return last;
  const newer = await firstNewer(read, mark, first, Math.min(mark.offset + 1, end));
  if (newer <= mark.offset) return newer;
  // Compaction removed the record, and no earlier one is newer. A different record at its offset that is no newer
  // cannot be dated.
  return isThere ? undefined : last;
}

/** Returns the first offset from `first` to `end` whose record is newer than the mark, or `end`. */
async function firstNewer(read: Read, mark: Mark, first: number, end: number): Promise<number> {
  let low = first;
  let high = end;
  let found = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const record = await read(middle);
    if (record === undefined || record.offset >= high) high = middle;
    else if (isNewer(record, mark)) {
      found = record.offset;
      high = middle;
    } else low = record.offset + 1;
  }
  return found;
}

/** Describes in one line which records are lost, and why. */
export const describeExpired = ({ topic, partition, from, end }: ExpiredRecords): string =>
  `partition ${partition} of topic ${topic} no longer has the records from ${from} to ${end - 1}: ` +
  'retention removed them before they were read; reading continues after them';

/** Describes in one line why a partition is halted and what to do. */
export function describeDivergence({
  topic,
  partition,
  position,
  first,
  end,
  commonEnd,
  leaderEpoch,
}: Divergence): string {
  const epochOf = (epoch: number | null | undefined): string =>
    epoch === null || epoch === undefined || epoch === noEpoch ? '' : ` of leader epoch ${epoch}`;
  const stored = `offset ${position.offset}${epochOf(parseMark(position.mark)?.leaderEpoch)}`;
  const other = commonEnd === null ? 'other records' : `other records${epochOf(leaderEpoch)} from ${commonEnd} on`;
  const now = end === commonEnd ? `the log ends at ${end}` : `the log holds ${first} to ${end}, with ${other}`;
  return (
    `partition ${partition} of topic ${topic} is not the log that was read before: ` +
    `the stored position is ${stored}, ${now}; ` +
    'the partition is halted until "fenceline repair positions" has moved the position'
  );
}
