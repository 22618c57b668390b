/**
 * Consumes an assigned partition, for consumers with and without a group. One loop fetches ahead into the bounded queue
 * of the assignment. Another hands records to the handler, one call at a time. So a handler may take minutes.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import { createFailure } from '../../../../pipeline/failure.js';
import type { ConsumeOptions, Log, LogRecord } from '../../../../pipeline/ports.js';
import { asPosition, findDivergence, positionAfter } from '../../../../pipeline/positions.js';
import { pauseMs } from '../../../../pipeline/retrying.js';
import { serviceError } from '../../service-error.js';
import { fetchNext, maxFetchedBytes, type PartitionSource } from '../read/fetching.js';
import type { PartitionAssignment } from './partition-assignment.js';

/**
 * Fetches from a log that ends before our position until the log is verified, about a second in all. A new leader may
 * not know its end for a moment.
 */
const beyondEndAttempts = 5;

/** Where the records of a partition come from, and how they are read. */
export interface ConsumeParts {
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /** Number of connections to brokers opened so far. */
  readonly socketsOpened: () => number;
  readonly source: PartitionSource;
  readonly options: Omit<ConsumeOptions, 'group'>;
  /** Waits for the registry, if it must be asked, while `isWanted` returns true. */
  readonly decode: (
    partition: number,
    messages: readonly KafkaMessage[],
    isWanted: () => boolean,
  ) => Promise<readonly LogRecord[]>;
}

/**
 * Starts an assignment and consumes its partition until the assignment is lost and the handler has released it. Returns
 * false when the assignment was lost before. Rejects when the handler fails, or when brokers are out of reach for too
 * long.
 */
export async function consumePartition(assignment: PartitionAssignment, parts: ConsumeParts): Promise<boolean> {
  const { partition } = assignment;
  const { handler, topic } = parts.options;
  if (!assignment.start()) return false;
  assignment.hold(asPosition(await handler.assigned(partition, () => assignment.isOurs)));
  const { failed, fail } = createFailure();
  fetchAhead(assignment, parts).catch((error) => {
    // A request that is in flight when the assignment is lost is not awaited, and may fail.
    if (assignment.isHeld) fail(serviceError(error, `Kafka: ${topic}/${partition} could not be read`));
  });
  await Promise.race([feed(assignment, parts), failed]);
  await handler.revoked(partition);
  assignment.end();
  return true;
}

async function fetchAhead(assignment: PartitionAssignment, parts: ConsumeParts): Promise<void> {
  const { source, socketsOpened, options } = parts;
  const { partition } = assignment;
  let beyondEnd = 0;
  for (let next = await assignment.nextFetch(); next !== undefined; next = await assignment.nextFetch()) {
    const { offset } = next;
    const fetched = await fetchNext(source, { partition, offset, maxBytes: maxFetchedBytes }, () => assignment.isHeld);
    assignment.observeConnections(socketsOpened());
    if (fetched.hasExpired && offset > 0)
      options.handler.expired?.({ topic: options.topic, partition, from: offset, end: fetched.nextOffset });
    assignment.accept(next, fetched);
    beyondEnd = offset > fetched.endOffset ? beyondEnd + 1 : 0;
    if (beyondEnd === 0) continue;
    // The log may have lost records.
    if (beyondEnd % beyondEndAttempts === 0) assignment.requireVerification();
    await delay(pauseMs(beyondEnd));
  }
}

async function feed(assignment: PartitionAssignment, parts: ConsumeParts): Promise<void> {
  const { partition } = assignment;
  const { handler, maxBatchRecords, maxWaitMs } = parts.options;
  for (;;) {
    const messages = await assignment.take(maxBatchRecords, maxWaitMs);
    if (messages === undefined) return;
    if (assignment.needsVerification && !(await verifyLog(assignment, parts))) continue;
    if (messages.length > 0) {
      const decoding = parts.decode(partition, messages, () => assignment.isHeld);
      // Nobody needs the records, or the failure, after the assignment is lost.
      decoding.catch(() => {});
      const records = await Promise.race([decoding, assignment.lost]);
      if (records === undefined) return;
      if ((await handler.records(partition, records)) === 'halted') assignment.halt();
      else assignment.finish(positionAfter(records.at(-1)!));
    }
    const end = assignment.takeEmptyEnd();
    if (end !== undefined) await handler.passed?.(partition, end);
    // Other work of this thread runs even when every call settles at once.
    await nextTurn();
  }
}

/**
 * Returns whether the log is the one that was read up to the position. When it is not, the assignment halts until the
 * handler returns a position to resume from. Handlers without `diverged` skip the verification.
 */
async function verifyLog(assignment: PartitionAssignment, parts: ConsumeParts): Promise<boolean> {
  const { log, options, socketsOpened } = parts;
  const { partition } = assignment;
  const { handler, topic } = options;
  const openedBefore = socketsOpened();
  if (handler.diverged === undefined) {
    assignment.verified(openedBefore);
    return true;
  }
  const search = findDivergence(log, topic, partition, assignment.position, { isWanted: () => assignment.isHeld });
  // Nobody needs the result, or its failure, after the assignment is lost.
  search.catch(() => {});
  const divergence = await Promise.race([search, assignment.lost]);
  if (!assignment.isHeld) return false;
  if (divergence === undefined) {
    assignment.verified(openedBefore);
    return true;
  }
  assignment.halt();
  const next = await Promise.race([handler.diverged(partition, divergence), assignment.lost]);
  if (next !== undefined && assignment.isHeld) assignment.resumeFrom(asPosition(next));
  return false;
}
