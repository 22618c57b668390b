/**
 * Membership in a Kafka group that shares one topic: kafkajs' consumer, kept alive.
 *
 * Flows in: what the group gives this member, what the brokers bring of it, and trouble. Flows out: from where to fetch
 * which partition, and how far it has come. kafkajs heartbeats between fetches only, so `onFetched` must return at
 * once: then its loop never stands still.
 *
 * kafkajs takes some outages for errors beyond repair and ends for good, so it is never left to restart itself:
 * whatever ended it, it is started again here until the brokers have been out of reach for too long.
 */
import type { Admin, Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import { outageLimitMs } from '../../retrying.js';
import { fetchedOffsetOf } from '../connection/kafkajs-internals.js';
import { type MemberState, memberStateOf, stickyAssigner } from './group-assigner.js';
import type { FetchedBatch } from './lease.js';
import { maxFetchedBytes } from './record-queue.js';
import type { Sight } from './watchdog.js';

/**
 * Longest wait of a fetch for records, and so of a heartbeat, and of a partition that is to be fetched again, for the
 * fetch before it.
 */
const fetchWaitMs = 200;
/**
 * Of one fetch, all partitions together; kafkajs draws their order anew each time. What is made of it must not hold up
 * the event loop.
 */
const maxAnswerBytes = 4 * 2 ** 20;
/** A member hears of a rebalance by its next heartbeat. */
const maxHeartbeatIntervalMs = 500;
/** Short: while kafkajs waits between two tries, it sends no heartbeats. */
const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8 };
const restartDelayMs = 500;
/** kafkajs needs a while to notice that an outage is over. */
const maxOutageMs = 1.5 * outageLimitMs;
/** What kafkajs declares beyond repair, though a broker that is away causes it. */
const outages = new Set(['KafkaJSGroupCoordinatorNotFound', 'KafkaJSLockTimeout', 'KafkaJSTimeout']);

export interface MembershipParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** Kafka's names. */
  readonly groupId: string;
  readonly topic: string;
  readonly sessionTimeoutMs: number;
  /** What the other members are told at a join. */
  readonly leases: () => MemberState['leases'];
  /**
   * The group has given these partitions to this member; nothing of them is fetched before `fetchFrom`. `isUnbroken`:
   * what it had before as well, nobody else can have had in between.
   */
  readonly onJoined: (partitions: readonly number[], isUnbroken: boolean) => void;
  readonly onFetched: (batch: FetchedBatch) => void;
  /** The log holds no records there, only marks of transactions or what was taken back. */
  readonly onPassed: (partition: number, first: number, last: number) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onProblem: (message: string) => void;
}

/** How far a partition has come. */
export interface Progress {
  readonly partition: number;
  readonly nextOffset: number;
  readonly note?: string;
}

export class Membership {
  readonly #parts: MembershipParts;
  readonly #consumer: Consumer;
  #memberId: string | undefined;
  /** Tries to join since the last that succeeded. */
  #tries = 0;
  /** The group knows this member and has called it to join again. */
  #isCalled = false;
  /** Between a join and the end of kafkajs' loop; outside of it kafkajs takes no orders. */
  #isJoined = false;
  #isLeaving = false;
  #lastHeardMs = performance.now();
  #starting: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#consumer = this.#newConsumer();
  }

  /** For the watchdog: the group is to be heard of all the time. */
  look(): Sight {
    const state = `${this.#isJoined ? 'joined' : 'not joined'}, last heard of ${Math.round(performance.now() - this.#lastHeardMs)} ms ago`;
    return { name: 'membership', steps: this.#lastHeardMs, isDue: true, state };
  }

  /** False from the moment the group is called together until this member knows what it gets. */
  get isSettled(): boolean {
    return this.#isJoined && !this.#isCalled && this.#tries === 0;
  }

  start(): void {
    this.#starting = this.#start();
  }

  fetchFrom(partition: number, offset: number): void {
    if (!this.#isJoined) return;
    this.#consumer.seek({ topic: this.#parts.topic, partition, offset: `${offset}` });
    this.#consumer.resume([this.#named(partition)]);
  }

  holdBack(partition: number): void {
    if (this.#isJoined) this.#consumer.pause([this.#named(partition)]);
  }

  /** Tells the group how far its partitions have come. Rejects where it doesn't take that. */
  async report(progress: readonly Progress[]): Promise<void> {
    if (!this.#isJoined) return;
    const { topic } = this.#parts;
    await this.#consumer.commitOffsets(
      progress.map(({ partition, nextOffset, note = '' }) => ({
        topic,
        partition,
        offset: `${nextOffset}`,
        metadata: note,
      })),
    );
  }

  /** The notes last reported, by partition. */
  async notes(): Promise<ReadonlyMap<number, string | null>> {
    const { admin, groupId, topic } = this.#parts;
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return new Map(offsets!.partitions.map(({ partition, metadata }) => [partition, metadata]));
  }

  /** What the other members had in hand when they joined; undefined while the group isn't settled. */
  async others(): Promise<MemberState[] | undefined> {
    const { state, members } = await this.#consumer.describeGroup();
    if (state !== 'Stable') return undefined;
    return members
      .filter(({ memberId }) => memberId !== this.#memberId)
      .map(({ memberMetadata }) => memberStateOf(memberMetadata));
  }

  /** So that the group doesn't wait for the session to end. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#restart);
    // kafkajs can't break off a start: what is stopped meanwhile would join all the same.
    await this.#starting;
    await this.#consumer.disconnect().catch((error: Error) => this.#parts.onProblem(`leaving: ${error.message}`));
  }

  #newConsumer(): Consumer {
    const { kafka, groupId, sessionTimeoutMs, onPassed } = this.#parts;
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(maxHeartbeatIntervalMs, sessionTimeoutMs / 6),
      maxWaitTimeInMs: fetchWaitMs,
      maxBytes: maxAnswerBytes,
      maxBytesPerPartition: maxFetchedBytes,
      allowAutoTopicCreation: false,
      // As `read` and `bounds` of the log.
      readUncommitted: true,
      retry: { ...retry, restartOnFailure: async () => false },
      partitionAssigners: [stickyAssigner(() => this.#introduce())],
    });
    const { events } = consumer;
    consumer.on(events.REBALANCING, () => {
      this.#isCalled = true;
    });
    consumer.on(events.GROUP_JOIN, (event) => this.#joined(event));
    consumer.on(events.HEARTBEAT, () => {
      this.#lastHeardMs = performance.now();
    });
    consumer.on(events.START_BATCH_PROCESS, ({ payload: { partition, batchSize, firstOffset, lastOffset } }) => {
      if (batchSize === 0 && firstOffset !== null) onPassed(partition, Number(firstOffset), Number(lastOffset));
    });
    consumer.on(events.STOP, () => {
      this.#isJoined = false;
    });
    consumer.on(events.CRASH, (event) => this.#crashed(event));
    return consumer;
  }

  async #start(): Promise<void> {
    try {
      await this.#consumer.subscribe({ topics: [this.#parts.topic], fromBeginning: true });
      await this.#consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch }) => this.#parts.onFetched(fetched(batch)),
      });
    } catch (error) {
      this.#startLater(error as Error);
    }
  }

  /** Called by kafkajs at every try to join. */
  #introduce(): MemberState {
    const isSure = this.#isCalled && this.#tries === 0;
    this.#isCalled = false;
    this.#tries += 1;
    return { isSure, leases: this.#parts.leases() };
  }

  #joined({ payload: { memberId, memberAssignment } }: ConsumerGroupJoinEvent): void {
    // A member keeps its id only if it took part in every rebalance, and each takes a try.
    const isUnbroken = memberId === this.#memberId && this.#tries === 1;
    this.#memberId = memberId;
    this.#tries = 0;
    this.#isJoined = true;
    this.#lastHeardMs = performance.now();
    const partitions = memberAssignment[this.#parts.topic] ?? [];
    for (const partition of partitions) this.holdBack(partition);
    this.#parts.onJoined(partitions, isUnbroken);
  }

  #crashed({ payload: { error } }: ConsumerCrashEvent): void {
    this.#memberId = undefined;
    this.#startLater(error);
  }

  #startLater(error: Error): void {
    if (this.#isLeaving) return;
    const { groupId, onProblem, onFailure } = this.#parts;
    if (isOutage(error) && performance.now() - this.#lastHeardMs < maxOutageMs) {
      onProblem(`group ${groupId} starts again: ${error.message}`);
      this.#restart = setTimeout(() => this.start(), restartDelayMs);
    } else onFailure(error);
  }

  #named(partition: number) {
    return { topic: this.#parts.topic, partitions: [partition] };
  }
}

function isOutage(error: Error & { retriable?: boolean }): boolean {
  const cause = error.cause as Error | undefined;
  return (
    error.retriable === true || outages.has(error.name) || (cause !== undefined && cause !== error && isOutage(cause))
  );
}

function fetched(batch: EachBatchPayload['batch']): FetchedBatch {
  return {
    partition: batch.partition,
    fetchedOffset: fetchedOffsetOf(batch),
    endOffset: Number(batch.lastOffset()) + 1,
    messages: batch.messages,
  };
}
