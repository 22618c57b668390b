/**
 * A consumer that shares the partitions of one topic with the other members of its group.
 *
 * kafkajs joins the group and sends heartbeats (`membership.ts`). Each partition that it assigns is consumed by itself
 * (`consume-partition.ts`), so a slow handler delays only its own partition. Each starts at the position that the
 * handler's `assigned` returns; offsets committed to the group are for monitoring only.
 *
 * In a rebalance, a partition that stays is not interrupted. A partition that leaves is drained first: the call in
 * flight ends, `revoked` is called, and only then does the new owner claim it (`hand-over.ts`). Draining begins when
 * the new assignment is known, because before that nobody knows which partitions leave. A member that returns after the
 * group continued without it gives up its partitions and claims the new ones. Correctness does not depend on any of
 * this: the token of the store fences off an earlier owner.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConsumeOptions, type Log, type Subscription, topics } from '../../../../pipeline/ports.js';
import { createDeferred } from '../../../../schemas/deferred.js';
import { ServiceError } from '../../service-error.js';
import { Brokers } from '../connection/brokers.js';
import { whileBrokersChange } from '../connection/client.js';
import type { KafkaConnection } from '../connection/connection.js';
import { findCoordinator } from '../connection/kafkajs-internals.js';
import { type ReadingWire, recordsOf } from '../read/records.js';
import { type ConsumeParts, consumePartition } from './consume-partition.js';
import { HandOver } from './hand-over.js';
import { isCoordinatorAway, Membership, maxOutageMs } from './membership.js';
import { OffsetReporter } from './offset-reporter.js';
import { PartitionAssignment } from './partition-assignment.js';
import { sharedSource } from './shared-fetch.js';
import { type Observation, startWatchdog } from './watchdog.js';

const commitIntervalMs = 1_000;
/** How long a released partition waits for its last offset commit, on which nothing depends. */
const lastCommitTimeoutMs = 3_000;
/** After a failure the process must end, even if its handlers hang. */
const failedCloseTimeoutMs = 5_000;

interface GroupConsumerParts {
  readonly connection: Pick<
    KafkaConnection,
    'kafka' | 'admin' | 'newCluster' | 'topicName' | 'groupName' | 'socketsOpened' | 'patience'
  >;
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
  /** How long fetches are retried during an outage, unless all replicas of a partition are away. Default 90 s. */
  readonly outageLimitMs?: number;
  readonly onProblem: (message: string) => void;
}

/**
 * Joins the group and consumes until the caller closes the subscription. Its `done` rejects when the consumer fails.
 */
export const startGroupConsumer = (parts: GroupConsumerParts): Subscription => new GroupConsumer(parts);

class GroupConsumer implements Subscription {
  readonly #end = createDeferred();
  readonly done = this.#end.promise;
  readonly #parts: GroupConsumerParts;
  readonly #membership: Membership;
  readonly #reporter: OffsetReporter;
  readonly #brokers: Brokers;
  readonly #consumeParts: ConsumeParts;
  readonly #stopWatching: () => void;
  readonly #assignmentIdPrefix = randomBytes(6).toString('base64url');
  #assignmentCount = 0;
  #waitsBefore = 0;
  /** All assignments that aren't gone. */
  readonly #assignments = new Set<PartitionAssignment>();
  /** The latest assignment of each partition. */
  readonly #current = new Map<number, PartitionAssignment>();
  /** Resolves when the latest assignment of the partition is gone. */
  readonly #loops = new Map<number, Promise<void>>();
  #isStopped = false;
  #hasFailed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: GroupConsumerParts) {
    const { connection, options, sessionTimeoutMs, stallTimeoutMs, outageLimitMs = maxOutageMs, onProblem } = parts;
    const { kafka, admin } = connection;
    const topic = connection.topicName(options.topic);
    this.#parts = parts;
    this.#membership = new Membership({
      kafka,
      admin,
      groupId: connection.groupName(options.group, options.topic),
      topic,
      sessionTimeoutMs,
      assignments: () => [...this.#assignments].map(({ partition, id, state }) => ({ partition, id, state })),
      onJoined: (partitions, isUnbroken) => this.#joined(partitions, isUnbroken),
      outageLimitMs,
      isRefused: () => this.#isCoordinatorAway(),
      onFailure: (error) => this.#fail(error),
      onProblem,
    });
    this.#brokers = new Brokers(connection);
    this.#consumeParts = {
      log: parts.log,
      socketsOpened: connection.socketsOpened,
      source: sharedSource({
        brokers: this.#brokers,
        topicName: topic,
        partitions: () => this.#ownPartitions(),
        bounds: (partition) => parts.log.bounds(options.topic, partition),
        isCompacted: options.topic === topics.changes,
        outageLimitMs,
        waitsForReplicas: () => true,
      }),
      options,
      decode: (partition, messages, isWanted) => recordsOf(parts.wire, options.topic, partition, messages, isWanted),
    };
    this.#reporter = new OffsetReporter((offsets) => this.#membership.commit(offsets));
    this.#stopWatching = startWatchdog({
      timeoutMs: stallTimeoutMs,
      observe: () => this.#observe(),
      onStall: (message) => this.#fail(new ServiceError(message)),
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
    void this.#brokers.close();
    await Promise.race([this.#membership.leave(), unrefDelay(this.#parts.sessionTimeoutMs)]);
    this.#end.resolve();
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#stop();
    this.#end.reject(error);
  }

  #stop(): void {
    this.#isStopped = true;
    this.#stopWatching();
    for (const assignment of this.#assignments) assignment.lose();
  }

  #joined(partitions: readonly number[], isUnbroken: boolean): void {
    for (const assignment of this.#assignments)
      if (!isUnbroken || !partitions.includes(assignment.partition)) assignment.lose();
    if (this.#isStopped) return;
    const handOver = new HandOver({
      group: this.#membership,
      isOwn: (id) => id.startsWith(this.#assignmentIdPrefix),
      timeoutMs: this.#parts.sessionTimeoutMs,
      onProblem: this.#parts.onProblem,
    });
    for (const partition of partitions) {
      if (!this.#current.get(partition)?.isOurs) this.#open(partition, handOver);
    }
  }

  #open(partition: number, handOver: HandOver): void {
    this.#assignmentCount += 1;
    const assignment = new PartitionAssignment(partition, `${this.#assignmentIdPrefix}.${this.#assignmentCount}`);
    const before = this.#loops.get(partition);
    const loop = this.#consume(assignment, handOver, before).catch((error) => this.#fail(error));
    this.#assignments.add(assignment);
    this.#current.set(partition, assignment);
    this.#loops.set(partition, loop);
  }

  /** Runs an assignment from its hand-over to its release. */
  async #consume(
    assignment: PartitionAssignment,
    handOver: HandOver,
    before: Promise<void> | undefined,
  ): Promise<void> {
    await before;
    await handOver.released(assignment);
    const isConsumed = await consumePartition(assignment, this.#consumeParts);
    this.#assignments.delete(assignment);
    if (!isConsumed) return;
    const committed = this.#reporter.endOf(assignment, lastCommitTimeoutMs);
    await Promise.race([committed, unrefDelay(lastCommitTimeoutMs)]);
  }

  #ownPartitions(): number[] {
    return [...this.#current.values()].filter(({ isOurs }) => isOurs).map(({ partition }) => partition);
  }

  async #keepCommitting(): Promise<void> {
    while (!this.#isStopped) {
      await unrefDelay(commitIntervalMs);
      await this.#reporter.progressOf(this.#assignments);
    }
  }

  /**
   * Returns whether the brokers answer that none can coordinate the group. kafkajs hides this answer: it reports the
   * same error when no broker answers.
   */
  async #isCoordinatorAway(): Promise<boolean> {
    const { connection, options } = this.#parts;
    const groupId = connection.groupName(options.group, options.topic);
    const ask = () =>
      this.#brokers
        .requestAny((broker) => findCoordinator(broker, groupId))
        .then(() => false)
        .catch((error: unknown) => {
          if (isCoordinatorAway(error)) return true;
          throw error;
        });
    // The broker that is asked may be the one that is away, until others have told that it is.
    const isAway = await whileBrokersChange(ask).catch(() => false);
    if (isAway) connection.patience.refused('kafka', `no broker can coordinate group ${groupId}`);
    return isAway;
  }

  /** Returns whether work may have waited since the last call for a service that serves no process. */
  async #mayWait(): Promise<boolean> {
    if (!this.#membership.isSettled) await this.#isCoordinatorAway();
    const before = this.#waitsBefore;
    this.#waitsBefore = this.#parts.connection.patience.waits;
    return this.#waitsBefore !== before;
  }

  async #observe(): Promise<Observation[]> {
    const { connection, options } = this.#parts;
    if (await this.#mayWait()) return [];
    const offsets = await connection.admin.fetchTopicOffsets(connection.topicName(options.topic));
    const bounds = new Map(
      offsets.map(({ partition, low, high }) => [partition, { first: Number(low), end: Number(high) }]),
    );
    const partitions = [...this.#assignments].map((assignment) => {
      const { first, end } = bounds.get(assignment.partition) ?? {};
      return {
        name: `partition ${assignment.partition} (${assignment.id})`,
        steps: assignment.steps,
        hasWork: !assignment.isHeld || (assignment.isMoving && assignment.nextOffset !== end),
        state: `${assignment.describe()}, the log holds ${first} to ${end}`,
      };
    });
    return [...partitions, this.#membership.observe()];
  }
}

/** Resolves after the time. Its timer does not keep the process alive. */
const unrefDelay = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
