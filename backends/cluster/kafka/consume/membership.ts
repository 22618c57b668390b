/**
 * Membership in a consumer group of one topic, on the kafkajs consumer.
 *
 * kafkajs fetches nothing, because all partitions are paused: it only joins, sends heartbeats and commits offsets. It
 * treats some outages as fatal and stops for good, so it may not restart itself. This class restarts it after any
 * failure, until the brokers have been out of reach for too long. While they answer that no broker can coordinate the
 * group, it waits: no other process could join either.
 */
import type { Admin, Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent, Kafka } from 'kafkajs';
import { outageLimitMs } from '../../../../pipeline/retrying.js';
import { type MemberState, memberStateOf, stickyAssigner } from './group-assigner.js';
import type { Observation } from './watchdog.js';

/** A member learns of a rebalance by its next heartbeat. */
const maxHeartbeatIntervalMs = 500;
/** Short, because kafkajs sends no heartbeats between two attempts. */
const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8 };
const restartDelayMs = 500;
/** Longer than the limit, because kafkajs needs a while to notice the end of an outage. */
export const maxOutageMs = 1.5 * outageLimitMs;
/** Errors that kafkajs treats as fatal although an outage causes them. */
const outages = new Set(['KafkaJSGroupCoordinatorNotFound', 'KafkaJSLockTimeout', 'KafkaJSTimeout']);

interface MembershipParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** Group and topic by Kafka's names. */
  readonly groupId: string;
  readonly topic: string;
  readonly sessionTimeoutMs: number;
  /** The assignments to list for the other members at a join. */
  readonly assignments: () => MemberState['assignments'];
  /**
   * Called with the partitions that are assigned to this member. `isUnbroken`: nobody else can have had the partitions
   * that this member kept.
   */
  readonly onJoined: (partitions: readonly number[], isUnbroken: boolean) => void;
  /** How long the consumer is restarted without a sign of the group. */
  readonly outageLimitMs: number;
  /** Whether the brokers answer that none can coordinate the group at the moment. */
  readonly isRefused: () => Promise<boolean>;
  readonly onFailure: (error: unknown) => void;
  readonly onProblem: (message: string) => void;
}

/** An offset to commit, with optional metadata. */
export interface CommittedOffset {
  readonly partition: number;
  readonly nextOffset: number;
  readonly metadata?: string;
}

/** The membership of this process in one group, until it leaves or has been out of reach for too long. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #consumer: Consumer;
  #memberId: string | undefined;
  /** Attempts to join since the last successful one. */
  #joinAttempts = 0;
  /** The group knows this member and has asked it to join again. */
  #isRebalancing = false;
  /** True between a join and the end of kafkajs' loop. Otherwise kafkajs can't commit. */
  #isJoined = false;
  #isLeaving = false;
  #lastHeartbeatMs = performance.now();
  /** When the group was last there, or the brokers last answered that none can coordinate it. */
  #lastSignMs = performance.now();
  #starting: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#consumer = this.#newConsumer();
  }

  /** Returns the state for the watchdog. A membership always has work: heartbeats. */
  observe(): Observation {
    const sinceMs = Math.round(performance.now() - this.#lastHeartbeatMs);
    const state = `${this.#isJoined ? 'joined' : 'not joined'}, last heartbeat ${sinceMs} ms ago`;
    return { name: 'membership', steps: this.#lastHeartbeatMs, hasWork: true, state };
  }

  /** False from the start of a rebalance until this member knows its assignment. */
  get isSettled(): boolean {
    return this.#isJoined && !this.#isRebalancing && this.#joinAttempts === 0;
  }

  /** Joins in the background. Assignments arrive by the callbacks. */
  start(): void {
    this.#starting = this.#start();
  }

  /** Commits offsets to the group. Rejects when the group refuses them, and while this member is not in the group. */
  async commit(offsets: readonly CommittedOffset[]): Promise<void> {
    const { groupId, topic } = this.#parts;
    if (!this.#isJoined) throw new Error(`this member is not in group ${groupId}, so it can't commit`);
    await this.#consumer.commitOffsets(
      offsets.map(({ partition, nextOffset, metadata = '' }) => ({
        topic,
        partition,
        offset: `${nextOffset}`,
        metadata,
      })),
    );
  }

  /** Returns the metadata of the committed offsets, by partition. */
  async committedMetadata(): Promise<ReadonlyMap<number, string | null>> {
    const { admin, groupId, topic } = this.#parts;
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return new Map(offsets!.partitions.map(({ partition, metadata }) => [partition, metadata]));
  }

  /** Returns the states of the other members when they joined; undefined during a rebalance. */
  async otherMembers(): Promise<MemberState[] | undefined> {
    const { state, members } = await this.#consumer.describeGroup();
    if (state !== 'Stable') return undefined;
    return members
      .filter(({ memberId }) => memberId !== this.#memberId)
      .map(({ memberMetadata }) => memberStateOf(memberMetadata));
  }

  /** Leaves the group, so that it does not wait for the session timeout. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#restart);
    // kafkajs can't cancel a start: a consumer that is stopped during it would still join.
    await this.#starting;
    await this.#consumer
      .disconnect()
      .catch((error: Error) => this.#parts.onProblem(`group ${this.#parts.groupId}: leaving failed: ${error.message}`));
  }

  #newConsumer(): Consumer {
    const { kafka, groupId, sessionTimeoutMs } = this.#parts;
    const heartbeatInterval = Math.min(maxHeartbeatIntervalMs, sessionTimeoutMs / 6);
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval,
      // While all partitions are paused, kafkajs looks so often whether a heartbeat is due, or whether it shall leave.
      maxWaitTimeInMs: heartbeatInterval / 2,
      allowAutoTopicCreation: false,
      retry: { ...retry, restartOnFailure: async () => false },
      partitionAssigners: [stickyAssigner(() => this.#memberState())],
    });
    const { events } = consumer;
    consumer.on(events.REBALANCING, () => {
      this.#isRebalancing = true;
    });
    consumer.on(events.GROUP_JOIN, (event) => this.#joined(event));
    consumer.on(events.HEARTBEAT, () => this.#metGroup());
    consumer.on(events.STOP, () => {
      this.#isJoined = false;
    });
    consumer.on(events.CRASH, (event) => this.#crashed(event));
    return consumer;
  }

  async #start(): Promise<void> {
    try {
      await this.#consumer.subscribe({ topics: [this.#parts.topic], fromBeginning: true });
      await this.#consumer.run({ autoCommit: false, eachBatch: async () => {} });
    } catch (error) {
      await this.#restartLater(error as Error);
    }
  }

  /** Called by kafkajs at every attempt to join. */
  #memberState(): MemberState {
    const isSure = this.#isRebalancing && this.#joinAttempts === 0;
    this.#isRebalancing = false;
    this.#joinAttempts += 1;
    return { isSure, assignments: this.#parts.assignments() };
  }

  #joined({ payload: { memberId, memberAssignment } }: ConsumerGroupJoinEvent): void {
    // A member keeps its id only if it took part in every rebalance, and each takes one attempt.
    const isUnbroken = memberId === this.#memberId && this.#joinAttempts === 1;
    this.#memberId = memberId;
    this.#joinAttempts = 0;
    this.#isJoined = true;
    this.#metGroup();
    const { topic } = this.#parts;
    const partitions = memberAssignment[topic] ?? [];
    this.#consumer.pause([{ topic, partitions }]);
    this.#parts.onJoined(partitions, isUnbroken);
  }

  #metGroup(): void {
    this.#lastHeartbeatMs = performance.now();
    this.#lastSignMs = this.#lastHeartbeatMs;
  }

  #crashed({ payload: { error } }: ConsumerCrashEvent): void {
    this.#memberId = undefined;
    void this.#restartLater(error);
  }

  async #restartLater(error: Error): Promise<void> {
    const { groupId, outageLimitMs, isRefused, onProblem, onFailure } = this.#parts;
    if (isCoordinatorAway(error) || (await isRefused())) this.#lastSignMs = performance.now();
    if (this.#isLeaving) return;
    if (isOutage(error) && performance.now() - this.#lastSignMs < outageLimitMs) {
      onProblem(`group ${groupId}: the consumer restarts: ${error.message}`);
      this.#restart = setTimeout(() => this.start(), restartDelayMs);
    } else onFailure(error);
  }
}

/** Returns whether a broker answered that none can coordinate the group, or that too few replicas of it are in sync. */
export function isCoordinatorAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { type?: unknown }).type === 'GROUP_COORDINATOR_NOT_AVAILABLE' || isCoordinatorAway(error.cause);
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { retriable?: unknown }).retriable === true || outages.has(error.name) || isOutage(error.cause);
}
