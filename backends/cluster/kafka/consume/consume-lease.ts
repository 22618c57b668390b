/**
 * Consumes the partition of a lease, for consumers with and without a group. One loop fetches ahead into the bounded
 * queue of the lease. Another hands records to the handler, one call at a time. So a handler may take minutes.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import { createFailure } from '../../../../pipeline/failure.js';
import type { ConsumeOptions, Log, LogRecord } from '../../../../pipeline/ports.js';
import { asPosition, findDivergence, positionAfter } from '../../../../pipeline/positions.js';
import { pauseMs } from '../../retrying.js';
import { fetchNext, maxFetchedBytes, type PartitionSource } from '../read/fetching.js';
import type { Lease } from './lease.js';

/**
 * Fetches from a log that ends before our position until the log is verified, about a second in all. A new leader may
 * not know its end for a moment.
 */
const beyondEndAttempts = 5;

export interface LeaseParts {
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /** Number of connections to brokers opened so far. */
  readonly socketsOpened: () => number;
  readonly source: PartitionSource;
  readonly options: Omit<ConsumeOptions, 'group'>;
  readonly decode: (partition: number, messages: readonly KafkaMessage[]) => Promise<readonly LogRecord[]>;
}

/**
 * Claims a lease and consumes its partition until the lease is lost and the handler has released it. Returns false when
 * the lease was lost before. Rejects when the handler fails, or when brokers are out of reach for too long.
 */
export async function consumeLease(lease: Lease, parts: LeaseParts): Promise<boolean> {
  const { partition } = lease;
  const { handler } = parts.options;
  if (!lease.claim()) return false;
  lease.hold(asPosition(await handler.assigned(partition, () => lease.isOurs)));
  const { failed, fail } = createFailure();
  fetchAhead(lease, parts).catch((error) => {
    // A request that is in flight when the lease is lost is not awaited, and may fail.
    if (lease.isHeld) fail(error);
  });
  await Promise.race([feed(lease, parts), failed]);
  await handler.revoked(partition);
  lease.end();
  return true;
}

async function fetchAhead(lease: Lease, { source, socketsOpened }: LeaseParts): Promise<void> {
  const { partition } = lease;
  let beyondEnd = 0;
  for (let next = await lease.nextFetch(); next !== undefined; next = await lease.nextFetch()) {
    const { offset } = next;
    const fetched = await fetchNext(source, { partition, offset, maxBytes: maxFetchedBytes }, () => lease.isHeld);
    lease.observeConnections(socketsOpened());
    lease.accept(next, fetched);
    beyondEnd = offset > fetched.endOffset ? beyondEnd + 1 : 0;
    if (beyondEnd === 0) continue;
    // The log may have lost records.
    if (beyondEnd % beyondEndAttempts === 0) lease.requireVerification();
    await delay(pauseMs(beyondEnd));
  }
}

async function feed(lease: Lease, parts: LeaseParts): Promise<void> {
  const { partition } = lease;
  const { handler, maxBatchRecords, maxWaitMs } = parts.options;
  for (;;) {
    const messages = await lease.take(maxBatchRecords, maxWaitMs);
    if (messages === undefined) return;
    if (lease.needsVerification && !(await verifyLog(lease, parts))) continue;
    if (messages.length > 0) {
      const records = await parts.decode(partition, messages);
      if ((await handler.records(partition, records)) === 'halted') lease.halt();
      else lease.finish(positionAfter(records.at(-1)!));
    }
    const end = lease.takeEmptyEnd();
    if (end !== undefined) await handler.passed?.(partition, end);
    // Other work of this thread runs even when every call settles at once.
    await nextTurn();
  }
}

/**
 * Returns whether the log is the one that was read up to the position. When it is not, the lease halts until the
 * handler returns a position to resume from. Handlers without `diverged` skip the verification.
 */
async function verifyLog(lease: Lease, { log, options, socketsOpened }: LeaseParts): Promise<boolean> {
  const { partition } = lease;
  const { handler, topic } = options;
  const openedBefore = socketsOpened();
  if (handler.diverged === undefined) {
    lease.verified(openedBefore);
    return true;
  }
  const search = findDivergence(log, topic, partition, lease.position, { isWanted: () => lease.isHeld });
  // Nobody needs the result, or its failure, after the lease is lost.
  search.catch(() => {});
  const divergence = await Promise.race([search, lease.lost]);
  if (!lease.isHeld) return false;
  if (divergence === undefined) {
    lease.verified(openedBefore);
    return true;
  }
  lease.halt();
  const next = await Promise.race([handler.diverged(partition, divergence), lease.lost]);
  if (next !== undefined && lease.isHeld) lease.resumeFrom(asPosition(next));
  return false;
}
