/**
 * A consumer that shares the partitions of one topic with the others of its group, whatever processes they are in.
 *
 * Flows in: the partitions that Kafka gives to this member, and their records. Flows out: calls of the handler, one at
 * a time for each partition, from the offset that `assigned` answered: that is the truth, the offset that the group
 * knows only shows how far we have come. kafkajs' loop does nothing but fetch and heartbeat: it lays what it fetched
 * into a bounded queue per partition, from which a loop per partition feeds the handler. So a handler may take minutes,
 * and only its own partition waits.
 *
 * A rebalance costs a partition that stays here nothing: its loop goes on, its queue stays, and fetching goes on from
 * where the queue ends. One that leaves is drained first: nothing more is handed over, the call in flight ends,
 * `revoked` is called, and only then does the new owner claim it (`hand-over.ts`). Draining begins when the division is
 * known and not when the group is called together: until then nobody knows who loses what, and to stop everything would
 * cost all partitions of all members what concerns a few. A member that comes back after the group did without it gives
 * up what it held, and claims anew what it gets. Nothing of this is what keeps two owners apart: that does the token of
 * the store.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ConsumeOptions, Log, Subscription } from '../../../../pipeline/ports.js';
import { asPosition, findDivergence, positionAfter } from '../../../../pipeline/positions.js';
import { pauseMs } from '../../retrying.js';
import type { KafkaConnection } from '../connection/connection.js';
import { shared } from '../connection/shared.js';
import { type ReadingWire, recordsOf } from '../read/records.js';
import { HandOver } from './hand-over.js';
import { type FetchedBatch, Lease } from './lease.js';
import { Membership } from './membership.js';
import { Reports } from './reports.js';
import { type Sight, startWatchdog } from './watchdog.js';

const reportEveryMs = 1_000;
/** Looks at a log that ends before our position, about a second in all; then it is compared. */
const beyondEndAttempts = 5;
/** Nothing depends on a report; a partition that is let go waits for its last one no longer. */
const lastReportTimeoutMs = 3_000;
/** After a failure the process is to end, whatever its handlers wait for. */
const failedCloseTimeoutMs = 5_000;

export interface GroupConsumerParts {
  readonly connection: Pick<KafkaConnection, 'kafka' | 'admin' | 'topicName' | 'groupName' | 'socketsOpened'>;
  /** The same log, to be looked into. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  readonly wire: ReadingWire;
  readonly options: ConsumeOptions & { readonly group: string };
  /**
   * A member that wasn't heard of for so long loses its partitions; a partition's new owner waits for its old one no
   * longer.
   */
  readonly sessionTimeoutMs: number;
  /** `done` rejects when a partition has something to do and does nothing for so long. */
  readonly stallTimeoutMs: number;
  readonly onProblem: (message: string) => void;
}

export const startGroupConsumer = (parts: GroupConsumerParts): Subscription => new GroupConsumer(parts);

class GroupConsumer implements Subscription {
  readonly done: Promise<void>;
  readonly #parts: GroupConsumerParts;
  readonly #membership: Membership;
  readonly #reports: Reports;
  /** First offset held and the one after the last, by partition. */
  readonly #bounds: () => Promise<ReadonlyMap<number, { readonly first: number; readonly end: number }>>;
  readonly #stopWatching: () => void;
  readonly #tag = randomBytes(6).toString('base64url');
  #opened = 0;
  /** All that aren't gone. */
  readonly #leases = new Set<Lease>();
  /** The latest of each partition. */
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
    this.#bounds = shared(async () => {
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
    this.#reports = new Reports((progress) => this.#membership.report(progress));
    this.#stopWatching = startWatchdog({
      timeoutMs: stallTimeoutMs,
      look: () => this.#look(),
      onStall: (message) => this.#fail(new Error(message)),
    });
    this.#membership.start();
    void this.#keepReporting();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stop();
    const drained = Promise.all(this.#loops.values());
    await (this.#hasFailed ? Promise.race([drained, patience(failedCloseTimeoutMs)]) : drained);
    await Promise.race([this.#membership.leave(), patience(this.#parts.sessionTimeoutMs)]);
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
      this.#steer(lease);
    }
  }

  #joined(partitions: readonly number[], isUnbroken: boolean): void {
    for (const lease of this.#leases) if (!isUnbroken || !partitions.includes(lease.partition)) lease.lose();
    if (this.#isStopped) return;
    const handOver = new HandOver({
      group: this.#membership,
      isOwn: (id) => id.startsWith(this.#tag),
      timeoutMs: this.#parts.sessionTimeoutMs,
      onProblem: this.#parts.onProblem,
    });
    for (const partition of partitions) {
      const lease = this.#current.get(partition);
      if (lease?.isOurs) this.#steer(lease);
      else this.#open(partition, handOver);
    }
  }

  #open(partition: number, handOver: HandOver): void {
    this.#opened += 1;
    const lease = new Lease(partition, `${this.#tag}.${this.#opened}`);
    const before = this.#loops.get(partition);
    const loop = this.#consume(lease, handOver, before).catch((error) => this.#fail(error));
    this.#leases.add(lease);
    this.#current.set(partition, lease);
    this.#loops.set(partition, loop);
  }

  /** From one owner to the next. */
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
    if (isClaimed) await Promise.race([this.#reports.endOf(lease), patience(lastReportTimeoutMs)]);
  }

  async #feed(lease: Lease): Promise<void> {
    const { partition } = lease;
    const { wire, options } = this.#parts;
    for (;;) {
      const messages = await lease.take(options.maxBatchRecords, options.maxWaitMs);
      if (messages === undefined) return;
      if (lease.isDoubted && !(await this.#compare(lease))) continue;
      if (messages.length > 0) {
        const records = await recordsOf(wire, options.topic, partition, messages);
        if ((await options.handler.records(partition, records)) === 'halted') lease.halt();
        else lease.finish(positionAfter(records.at(-1)!));
      }
      if (lease.isHeld && lease.wantsFetch !== lease.isFetching) this.#steer(lease);
      // Others on this thread get their turn even when every call settles at once.
      await nextTurn();
    }
  }

  /**
   * Whether the log is the one that was read up to the lease's position. Where it isn't, what waits is forgotten, and
   * the lease goes on from elsewhere or halts.
   */
  async #compare(lease: Lease): Promise<boolean> {
    const { connection, log, options } = this.#parts;
    const { partition, position } = lease;
    const socketsOpened = connection.socketsOpened();
    if (options.handler.diverged === undefined) {
      lease.trust(socketsOpened);
      return true;
    }
    const compared = findDivergence(log, options.topic, partition, position, { isWanted: () => lease.isHeld });
    // Of a partition that has left meanwhile nobody wants to know.
    compared.catch(() => {});
    const divergence = await Promise.race([compared, lease.lost]);
    if (!lease.isHeld) return false;
    if (divergence === undefined) {
      lease.trust(socketsOpened);
      return true;
    }
    lease.halt();
    this.#steer(lease);
    const next = await Promise.race([options.handler.diverged(partition, divergence), lease.lost]);
    if (next === undefined || !lease.isHeld) return false;
    lease.goOnFrom(asPosition(next));
    void this.#align(lease);
    return false;
  }

  #fetched(batch: FetchedBatch): void {
    const lease = this.#current.get(batch.partition);
    if (lease === undefined) return;
    lease.doubtAfter(this.#parts.connection.socketsOpened());
    if (!lease.accept(batch)) void this.#align(lease);
    else if (!lease.wantsFetch) this.#steer(lease);
  }

  /** Lets fetch from where the lease is once the log has what comes next, or has lost it. */
  async #align(lease: Lease): Promise<void> {
    this.#steer(lease);
    for (let attempt = 0; lease.isMoving; attempt++) {
      const bounds = await this.#bounds().catch(() => undefined);
      const { first, end } = bounds?.get(lease.partition) ?? { first: 0, end: -1 };
      // For more than a moment: the log has lost its end.
      if (lease.fetchOffset > end && end >= 0 && attempt === beyondEndAttempts) lease.doubt();
      if (lease.fetchOffset <= end) {
        lease.align(first);
        this.#steer(lease);
        return;
      }
      await delay(pauseMs(attempt));
    }
  }

  #steer(lease: Lease): void {
    lease.isFetching = lease.wantsFetch;
    if (lease.isFetching) this.#membership.fetchFrom(lease.partition, lease.fetchOffset);
    else this.#membership.holdBack(lease.partition);
  }

  async #keepReporting(): Promise<void> {
    while (!this.#isStopped) {
      await patience(reportEveryMs);
      await this.#reports.progressOf(this.#leases);
    }
  }

  async #look(): Promise<Sight[]> {
    const bounds = await this.#bounds();
    const partitions = [...this.#leases].map((lease) => {
      const { first, end } = bounds.get(lease.partition) ?? {};
      return {
        name: `partition ${lease.partition} (${lease.id})`,
        steps: lease.steps,
        isDue: !lease.isHeld || (lease.isMoving && lease.nextOffset !== end),
        state: `${lease.describe()}, the log holds ${first} to ${end}`,
      };
    });
    return [...partitions, this.#membership.look()];
  }
}

/** Keeps no process alive. */
const patience = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
