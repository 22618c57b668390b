/** Where a reader of topic `events` starts: what it asks for, held against what the topic still holds. */
import { type Log, topics } from '../../pipeline/ports.js';
import type { Position } from './position.js';

/** The first offset that a partition still holds and the offset after its last record. */
export interface Bounds {
  readonly partition: number;
  readonly first: number;
  readonly end: number;
}

/** Records of a partition that are gone, of all projects. */
export interface Missing {
  readonly partition: number;
  readonly missing: number;
}

/** Of every partition of the topic, in order. */
export const boundsOf = (log: Pick<Log, 'bounds' | 'partitions'>): Promise<Bounds[]> =>
  Promise.all(
    Array.from({ length: log.partitions(topics.events) }, async (_, partition) => ({
      partition,
      ...(await log.bounds(topics.events, partition)),
    })),
  );

/**
 * The offset within the bounds, and how many records its reader misses thereby. One beyond the end counts as the end:
 * after a power cut the topic may have fallen back, and what comes then is the same events again.
 */
export const within = (
  { first, end }: Omit<Bounds, 'partition'>,
  asked: number,
): { next: number; missing: number } => ({
  next: Math.min(Math.max(asked, first), end),
  missing: Math.max(0, first - asked),
});

/** The partition that has the most to read, or undefined when all is read. */
export function mostUnread(position: Position, end: Position): number | undefined {
  let most: number | undefined;
  let unread = 0;
  for (const [partition, offset] of position.entries()) {
    if (end[partition]! - offset <= unread) continue;
    unread = end[partition]! - offset;
    most = partition;
  }
  return most;
}
