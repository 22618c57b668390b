/** Starting positions of readers of topic `events`, limited to the records that the topic still holds. */
import { type Log, topics } from '../../pipeline/ports.js';
import type { Position } from './position.js';

/** The first offset that a partition still holds and the offset after its last record. */
export interface Bounds {
  readonly partition: number;
  readonly first: number;
  readonly end: number;
}

/** Number of records of a partition that are no longer held, of all projects. */
export interface Missing {
  readonly partition: number;
  readonly missing: number;
}

/** Reads the bounds of every partition, in order. */
export const boundsOf = (log: Pick<Log, 'bounds' | 'partitions'>): Promise<Bounds[]> =>
  Promise.all(
    Array.from({ length: log.partitions(topics.events) }, async (_, partition) => ({
      partition,
      ...(await log.bounds(topics.events, partition)),
    })),
  );

/**
 * Limits an offset to the bounds, and counts the records missed thereby. An offset beyond the end becomes the end:
 * after a power cut the topic may have lost records, and the same events follow again.
 */
export const within = (
  { first, end }: Omit<Bounds, 'partition'>,
  offset: number,
): { next: number; missing: number } => ({
  next: Math.min(Math.max(offset, first), end),
  missing: Math.max(0, first - offset),
});

/** Returns the partition with the most unread records; undefined when everything is read. */
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
