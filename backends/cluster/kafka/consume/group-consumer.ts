/**
 * A consumer that shares the partitions of one topic with the other members of its group.
 *
 * kafkajs only fetches and sends heartbeats (`membership.ts`). It fills a bounded queue per partition (`lease.ts`),
 * from which one loop per partition feeds the handler. So a handler may take minutes, and delays only its own
 * partition. Each partition starts at the position that the handler's `assigned` returns; offsets committed to the
 * group are for monitoring only.
 *
 * In a rebalance, a partition that stays is not interrupted. A partition that leaves is drained first: the call in
 * flight ends, `revoked` is called, and only then does the new owner claim it (`hand-over.ts`). Draining begins when
 * the new assignment is known, because before that nobody knows which partitions leave. A member that returns after the
 * group continued without it gives up its partitions and claims the new ones. Correctness does not depend on any of
 * this: the token of the store fences off an earlier owner.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ConsumeOptions, Log, Subscription } from '../../../../pipeline/ports.js';
import { asPosition, positionAfter } from '../../../../pipeline/positions.js';
import { pauseMs } from '../../retrying.js';
import type { KafkaConnection } from '../connection/connection.js';
import { singleFlight } from '../connection/single-flight.js';
import { type ReadingWire, recordsOf } from '../read/records.js';
import { HandOver } from './hand-over.js';
import { type FetchedBatch, Lease } from './lease.js';
import { type VerifiedPartition, verifyLog } from './log-verification.js';
import { Membership } from './membership.js';
import { OffsetReporter } from './offset-reporter.js';
import { type Observation, startWatchdog } from './watchdog.js';

const commitIntervalMs = 1_000;
/** Attempts to find our position in a log that ends before it, about a second in all. Then the log is verified. */
const beyondEndAttempts = 5;
/** How long a released partition waits for its last offset commit, on which nothing depends. */
const lastCommitTimeoutMs = 3_000;
/** After a failure the process must end, even if its handlers hang. */
const failedCloseTimeoutMs = 5_000;

export interface GroupConsumerParts {
  readonly connection: Pick<KafkaConnection, 'kafka' | 'admin' | 'topicName' | 'groupName' | 'socketsOpened'>;
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  readonly wire: ReadingWire;
  readonly options: ConsumeOptions & { readonly group: string };
  /**
   * A member without a heartbeat for this time loses its partitions. A new owner waits no longer for a previous one.
   */
  readonly sessionTimeoutMs: number;
  /** `done` rejects when a partition with work makes no progress for this time. */
  readonly stallTimeoutMs: number;
  readonly onProblem: (message: string) => void;
}

export const startGroupConsumer = (parts: GroupConsumerParts): Subscription => new GroupConsumer(parts);

class GroupConsumer implements Subscription {
  readonly done: Promise<void>;
  readonly #parts: GroupConsumerParts;
  readonly #membership: Membership;
  readonly #reporter: OffsetReporter;
  /** First and end offset, by partition. */
  readonly #bounds: () => Promise<ReadonlyMap<number, { readonly first: number; readonly end: number }>>;
  readonly #stopWatching: () => void;
  readonly #leaseIdPrefix = randomBytes(6).toString('base64url');
  #leaseCount = 0;
  /** All leases that aren't gone. */
  readonly #leases = new Set<Lease>();
  /** The latest lease of each partition. */
  readonly #current = new Map<number, Lease>();
  /** Resolves when the latest lease of the partition is gone. */
  readonly #loops = new Map<number, Promise<void>>();
  #settle!: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  #isStopped = false;
  #hasFailed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: GroupConsumerParts) {
    const { connection, options, sessionTimeoutMs, stallTimeoutMs, onProblem } = parts;
    const { kafka, admin } = connection;
    const topic = connection.topicName(options.topic);
    this.#parts = parts;
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#bounds = singleFlight(async () => {
      const offsets = await admin.fetchTopicOffsets(topic);
      return new Map(offsets.map(({ partition, low, high }) => [partition, { first: Number(low), end: Number(high) }]));
    });
    this.#membership = new Membership({
      kafka,
      admin,
      groupId: connection.groupName(options.group, options.topic),
      topic,
      sessionTimeoutMs,
      leases: () => [...this.#leases].map(({ partition, id, state }) => ({ partition, id, state })),
      onJoined: (partitions, isUnbroken) => this.#joined(partitions, isUnbroken),
      onFetched: (batch) => this.#fetched(batch),
      onPassed: (partition, first, last) => this.#current.get(partition)?.passOver(first, last),
      onFailure: (error) => this.#fail(error),
      onProblem,
    });
    this.#reporter = new OffsetReporter((offsets) => this.#membership.commit(offsets));
    this.#stopWatching = startWatchdog({
      timeoutMs: stallTimeoutMs,
      observe: () => this.#observe(),
      onStall: (message) => this.#fail(new Error(message)),
    });
    this.#membership.start();
    void this.#keepCommitting();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stop();
    const drained = Promise.all(this.#loops.values());
    await (this.#hasFailed ? Promise.race([drained, unrefDelay(failedCloseTimeoutMs)]) : drained);
    await Promise.race([this.#membership.leave(), unrefDelay(this.#parts.sessionTimeoutMs)]);
    this.#settle.resolve();
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#stop();
    this.#settle.reject(error);
  }

  #stop(): void {
    this.#isStopped = true;
    this.#stopWatching();
    for (const lease of this.#leases) {
      lease.lose();
      this.#updateFetching(lease);
    }
  }

  #joined(partitions: readonly number[], isUnbroken: boolean): void {
    for (const lease of this.#leases) if (!isUnbroken || !partitions.includes(lease.partition)) lease.lose();
    if (this.#isStopped) return;
    const handOver = new HandOver({
      group: this.#membership,
      isOwn: (id) => id.startsWith(this.#leaseIdPrefix),
      timeoutMs: this.#parts.sessionTimeoutMs,
      onProblem: this.#parts.onProblem,
    });
    for (const partition of partitions) {
      const lease = this.#current.get(partition);
      if (lease?.isOurs) this.#updateFetching(lease);
      else this.#open(partition, handOver);
    }
  }

  #open(partition: number, handOver: HandOver): void {
    this.#leaseCount += 1;
    const lease = new Lease(partition, `${this.#leaseIdPrefix}.${this.#leaseCount}`);
    const before = this.#loops.get(partition);
    const loop = this.#consume(lease, handOver, before).catch((error) => this.#fail(error));
    this.#leases.add(lease);
    this.#current.set(partition, lease);
    this.#loops.set(partition, loop);
  }

  /** Runs a lease from its hand-over to its release. */
  async #consume(lease: Lease, handOver: HandOver, before: Promise<void> | undefined): Promise<void> {
    const { handler } = this.#parts.options;
    await before;
    await handOver.released(lease);
    const isClaimed = lease.claim();
    if (isClaimed) {
      lease.hold(asPosition(await handler.assigned(lease.partition, () => lease.isOurs)));
      void this.#align(lease);
      await this.#feed(lease);
      await handler.revoked(lease.partition);
      lease.end();
    }
    this.#leases.delete(lease);
    if (isClaimed) await Promise.race([this.#reporter.endOf(lease), unrefDelay(lastCommitTimeoutMs)]);
  }

  async #feed(lease: Lease): Promise<void> {
    const { partition } = lease;
    const { wire, options } = this.#parts;
    for (;;) {
      const messages = await lease.take(options.maxBatchRecords, options.maxWaitMs);
      if (messages === undefined) return;
      if (lease.needsVerification && !(await this.#verify(lease))) continue;
      if (messages.length > 0) {
        const records = await recordsOf(wire, options.topic, partition, messages);
        if ((await options.handler.records(partition, records)) === 'halted') lease.halt();
        else lease.finish(positionAfter(records.at(-1)!));
      }
      if (lease.isHeld && lease.wantsFetch !== lease.isFetching) this.#updateFetching(lease);
      // Other work of this thread runs even when every call settles at once.
      await nextTurn();
    }
  }

  #verify(lease: Lease): Promise<boolean> {
    const { connection, log, options } = this.#parts;
    const partition: VerifiedPartition = {
      partition: lease.partition,
      position: lease.position,
      ended: lease.lost,
      get isActive() {
        return lease.isHeld;
      },
      verified: (socketsOpened) => lease.verified(socketsOpened),
      halt: () => {
        lease.halt();
        this.#updateFetching(lease);
      },
      resumeFrom: (position) => {
        lease.resumeFrom(position);
        void this.#align(lease);
      },
    };
    return verifyLog(partition, { log, options, socketsOpened: connection.socketsOpened });
  }

  #fetched(batch: FetchedBatch): void {
    const lease = this.#current.get(batch.partition);
    if (lease === undefined) return;
    lease.observeConnections(this.#parts.connection.socketsOpened());
    if (!lease.accept(batch)) void this.#align(lease);
    else if (!lease.wantsFetch) this.#updateFetching(lease);
  }

  /** Waits until the log reaches the lease's offset, and starts fetching there. */
  async #align(lease: Lease): Promise<void> {
    this.#updateFetching(lease);
    for (let attempt = 0; lease.isMoving; attempt++) {
      const bounds = await this.#bounds().catch(() => undefined);
      const { first, end } = bounds?.get(lease.partition) ?? { first: 0, end: -1 };
      // The log has ended before our offset for more than a moment: it may have lost records.
      if (lease.fetchOffset > end && end >= 0 && attempt === beyondEndAttempts) lease.requireVerification();
      if (lease.fetchOffset <= end) {
        lease.align(first);
        this.#updateFetching(lease);
        return;
      }
      await delay(pauseMs(attempt));
    }
  }

  #updateFetching(lease: Lease): void {
    lease.isFetching = lease.wantsFetch;
    if (lease.isFetching) this.#membership.fetchFrom(lease.partition, lease.fetchOffset);
    else this.#membership.pause(lease.partition);
  }

  async #keepCommitting(): Promise<void> {
    while (!this.#isStopped) {
      await unrefDelay(commitIntervalMs);
      await this.#reporter.progressOf(this.#leases);
    }
  }

  async #observe(): Promise<Observation[]> {
    const bounds = await this.#bounds();
    const partitions = [...this.#leases].map((lease) => {
      const { first, end } = bounds.get(lease.partition) ?? {};
      return {
        name: `partition ${lease.partition} (${lease.id})`,
        steps: lease.steps,
        hasWork: !lease.isHeld || (lease.isMoving && lease.nextOffset !== end),
        state: `${lease.describe()}, the log holds ${first} to ${end}`,
      };
    });
    return [...partitions, this.#membership.observe()];
  }
}

/** Resolves after the time. Its timer does not keep the process alive. */
const unrefDelay = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
