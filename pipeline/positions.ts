/**
 * Positions in a log that know the record before them, and whether a log is still the one that they were taken from.
 *
 * A broker that lost its newest records, or was put back to an older disk, gives their offsets to other records. So
 * each stored position has a mark of the last record before it. Where the log ends before the position, or has another
 * record there, the two are on different histories, and nothing may be read from the position on. Flows in: positions,
 * and a log to read. Flows out: where the two part. May import what `ports.ts` may.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { frameBytes } from '../schemas/codecs.js';
import type { Divergence, Log, LogRecord, Position, Topic } from './ports.js';

/** What a mark says of its record. */
interface Mark {
  readonly offset: number;
  /** -1 where the log counts no leaders. */
  readonly leaderEpoch: number;
  readonly timestamp: number;
  readonly hash: string;
}

const noEpoch = -1;
const hashCharacters = 16;
/** A leader that was elected just now may not know for a moment how far its log is confirmed. */
const defaultBeyondEndMs = 3_000;
const lookAgainMs = 250;

/**
 * Returns the mark of a record: where and when it was appended, under which leader, and a hash of its key and value.
 */
export function markOf(record: LogRecord): string {
  return [record.offset, record.leaderEpoch ?? noEpoch, record.timestamp, hashOf(record)].join(':');
}

/** Returns the position after the record. */
export const positionAfter = (record: LogRecord): Position => ({ offset: record.offset + 1, mark: markOf(record) });

/** Returns what a handler answers as a position. */
export const asPosition = (position: number | Position): Position =>
  typeof position === 'number' ? { offset: position, mark: null } : position;

/** Of the key and the value behind its frame header: the schema id in there is another one on the wire. */
function hashOf({ key, value }: LogRecord): string {
  const hash = createHash('sha1').update(key);
  if (value !== null) hash.update('\0').update(value.length > frameBytes ? value.subarray(frameBytes) : value);
  return hash.digest('hex').slice(0, hashCharacters);
}

function parseMark(text: string | null): Mark | undefined {
  const [, offset, leaderEpoch, timestamp, hash] = /^(\d+):(-?\d+):(\d+(?:\.\d+)?):([0-9a-f]+)$/.exec(text ?? '') ?? [];
  if (hash === undefined) return undefined;
  return { offset: Number(offset), leaderEpoch: Number(leaderEpoch), timestamp: Number(timestamp), hash };
}

const isSame = (record: LogRecord, { timestamp, hash }: Mark): boolean =>
  record.timestamp === timestamp && hashOf(record) === hash;

/** Neither leaders nor their clocks go back within one history. */
const isNewer = ({ timestamp, leaderEpoch = noEpoch }: LogRecord, mark: Mark): boolean =>
  timestamp > mark.timestamp || leaderEpoch > mark.leaderEpoch;

export interface DivergenceOptions {
  /** For how long a log that ends before the position may be a leader's that was elected just now. */
  readonly beyondEndMs?: number;
  /** Ends the wait for it. */
  readonly isWanted?: () => boolean;
}

type ReadableLog = Pick<Log, 'read' | 'bounds'>;

/**
 * Returns where log and position part; undefined when the log is, as far as it can be known, the one that the position
 * was taken from.
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
  const commonEnd = await endOfCommonHistory(log, topic, partition, position, bounds);
  if (!isBeyond && commonEnd === position.offset) return undefined;
  const [record] =
    commonEnd !== undefined && commonEnd < bounds.end ? await log.read(topic, partition, commonEnd, 1) : [];
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
 * The position itself where nothing speaks against it. Never later than where the histories parted: what is applied
 * twice is recognised, what is skipped is not. Undefined when it cannot be told.
 */
async function endOfCommonHistory(
  log: ReadableLog,
  topic: Topic,
  partition: number,
  { offset, mark: text }: Position,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<number | undefined> {
  const mark = parseMark(text);
  const last = Math.min(offset, end);
  // Nothing before the position is left to be compared, or nothing is known of it.
  if (mark === undefined || mark.offset >= offset || last <= first) return last;
  const isWithin = mark.offset < end;
  const [record] = isWithin ? await log.read(topic, partition, mark.offset, 1) : [];
  const isThere = record?.offset === mark.offset;
  if (isThere && isSame(record, mark)) return last;
  if (isWithin && mark.offset < first) return last;
  const newer = await firstNewer(log, topic, partition, mark, first, Math.min(mark.offset + 1, end));
  if (newer <= mark.offset) return newer;
  // Compaction has taken the record, and what came before it is no newer. A record in its place that is no newer cannot
  // be dated.
  return isThere ? undefined : last;
}

/** The first offset from `first` to `end` whose record is newer than the mark; `end` when none is. */
async function firstNewer(
  log: ReadableLog,
  topic: Topic,
  partition: number,
  mark: Mark,
  first: number,
  end: number,
): Promise<number> {
  let low = first;
  let high = end;
  let found = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await log.read(topic, partition, middle, 1);
    if (record === undefined || record.offset >= high) high = middle;
    else if (isNewer(record, mark)) {
      found = record.offset;
      high = middle;
    } else low = record.offset + 1;
  }
  return found;
}

/** Says what a partition that stands still needs, in one line. */
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
    `partition ${partition} of topic ${topic} is not the log that was read before: the stored position is ${stored}, ${now}; ` +
    'the partition is halted until "fenceline repair positions" has moved the position'
  );
}
