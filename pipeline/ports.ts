/**
 * What the stages need from the outside world. `backends/embedded` and `backends/cluster` implement it; one contract
 * suite runs on both.
 *
 * Rules of every implementation: a resolved promise means done (durable where it says so); rejection means unexpected,
 * and the caller lets it end the process; expected refusals are values. Nothing buffers without bound.
 */

import type { Event, User } from '../schemas/json/user.js';
import type { OutcomeResult } from '../schemas/records.js';

export const topics = {
  locations: 'locations',
  outcomes: 'outcomes',
  events: 'events',
  changes: 'changes',
  deadLetters: 'dead-letters',
  deliveries: 'deliveries',
  attempts: 'attempts',
  rejections: 'rejections',
} as const;
export type Topic = (typeof topics)[keyof typeof topics];

/** Short texts that travel with a record, by name. */
export type RecordHeaders = Readonly<Record<string, string>>;

/** A record as it is appended. `value: null` is a tombstone. Tombstones and headers are for compacted topics only. */
export interface NewRecord {
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
}

/**
 * A record as it is read. `value` may be a view into a larger buffer that stays valid until the handler it was given to
 * settles.
 */
export interface LogRecord {
  readonly key: string;
  readonly value: Buffer | null;
  /** Absent where there are none. */
  readonly headers?: RecordHeaders;
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds of the append. */
  readonly timestamp: number;
  /** Of the leader that appended it, where the log counts its leaders. */
  readonly leaderEpoch?: number;
}

/** A place in a partition: everything before `offset` is done. */
export interface Position {
  readonly offset: number;
  /**
   * Of the last record before `offset` (`positions.ts`). Null when it is not known: at the start, and where a version
   * without marks stored it.
   */
  readonly mark: string | null;
}

/** A partition is not the log that a position was taken from. */
export interface Divergence {
  readonly topic: Topic;
  readonly partition: number;
  readonly position: Position;
  /** Of the log as it is now: first offset held, and the offset after the last record. */
  readonly first: number;
  readonly end: number;
  /**
   * Up to here, and maybe further, the log is the one that was read: the place to go on from. Null when it cannot be
   * told.
   */
  readonly commonEnd: number | null;
  /** Of the first record after that; null where there is none, or the log counts no leaders. */
  readonly leaderEpoch: number | null;
}

/**
 * What a handler says of records it was given: nothing when they are done. `halted`: they are not done, and no more of
 * the partition is to be handed over until it is assigned anew.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers never halt, and answer nothing.
export type HandOverResult = 'halted' | void;

/** A partition's hand-over to this process and back. Offsets are of the next record to read. */
export interface StreamHandler {
  /**
   * Called once when the partition becomes ours; answers the place to start from. `isOurs` tells from then on whether
   * it still is: whoever was refused by a store asks before claiming again.
   */
  assigned(partition: number, isOurs: () => boolean): Promise<number | Position>;
  /** Called with records in offset order, never concurrently for one partition; the next call waits for the promise. */
  records(partition: number, records: readonly LogRecord[]): Promise<HandOverResult>;
  /** Called when the partition is about to leave: finish what is in flight, commit, let go. */
  revoked(partition: number): Promise<void>;
  /**
   * Called, like `records`, when the log is not the one that was read up to the position: with a position from
   * `assigned`, or with one after records that were handed over. Answers the place to go on from as soon as there is
   * one, which is compared in turn; an answer after the partition has left is not waited for. Without it nothing is
   * compared: the handler waits for offsets that are not there yet.
   */
  diverged?(partition: number, divergence: Divergence): Promise<number | Position>;
  /**
   * Called, like `records`, when what came before `nextOffset` was compacted away and nothing after it is there yet.
   */
  passed?(partition: number, nextOffset: number): Promise<void>;
}

export interface Subscription {
  /** Stops fetching, lets handlers finish, revokes every partition. */
  close(): Promise<void>;
  /** Rejects if a handler or the log failed; the process ends then. Resolves on close. */
  readonly done: Promise<void>;
}

export interface ConsumeOptions {
  readonly topic: Topic;
  /** Consumers of one group share the partitions; null: this one reads all of them, whoever else does. */
  readonly group: string | null;
  readonly handler: StreamHandler;
  readonly maxBatchRecords: number;
  /** Wait up to this long for a batch to fill before handing over less than `maxBatchRecords`; 0 hands over at once. */
  readonly maxWaitMs: number;
}

/**
 * Bytes of keys and values that a read answers at most where it is not told otherwise: enough for a page, little beside
 * a process' memory.
 */
export const defaultReadBytes = 4 * 2 ** 20;

/**
 * Partitioned, durable, ordered logs. A consumer is never handed records of another history than the one that it has
 * read: the log compares when it assigns a partition, and whenever it may have been replaced since.
 */
export interface Log {
  partitions(topic: Topic): number;
  /** The partition that records with this key go to. */
  partitionOf(topic: Topic, key: string): number;
  /**
   * Resolves when all records are durable. Records with one key keep their order. Appends that run at once are grouped.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  consume(options: ConsumeOptions): Subscription;
  /**
   * Answers records from `offset` at once; none at the end only. It answers `maxRecords` at most, and `maxBytes` of
   * keys and values ({@link defaultReadBytes} by default), but one record at least, however large: so whoever reads on
   * from the last one gets everything.
   */
  read(
    topic: Topic,
    partition: number,
    offset: number,
    maxRecords: number,
    maxBytes?: number,
  ): Promise<readonly LogRecord[]>;
  /** First offset still held and the offset after the last record. */
  bounds(topic: Topic, partition: number): Promise<{ readonly first: number; readonly end: number }>;
  /** Returns the offset after the last record. In Kafka this takes one request, and `bounds` two. */
  end(topic: Topic, partition: number): Promise<number>;
}

/** The right to write one partition's state, until somebody claims it after us. */
export interface Claim {
  readonly partition: number;
  readonly token: number;
  /** Offset of the next record to apply. */
  readonly nextOffset: number;
  /** As in {@link Position}. */
  readonly mark: string | null;
}

/** What one batch did to its partition. Written wholly or not at all. */
export interface Commit {
  /** Must equal the position that the store holds, else the commit is refused. */
  readonly expectedOffset: number;
  readonly nextOffset: number;
  /** As in {@link Position}; default null. */
  readonly mark?: string | null;
  /** Encoded DeviceState by device key; null deletes. */
  readonly states: ReadonlyMap<string, Buffer | null>;
  /** For topics `events`, `outcomes` and `dead-letters`. Published at least once, with the same bytes on every try. */
  readonly publish: readonly { readonly topic: Topic; readonly records: readonly NewRecord[] }[];
}

/** `fenced`: another owner has claimed the partition, or the position is not the expected one. Nothing was written. */
export type CommitResult = 'committed' | 'fenced';

/** Per-device state, position and undelivered events of each partition, living and dying together. */
export interface StateStore {
  /** Increments the owner token and publishes what an earlier owner left in the outbox. */
  claim(partition: number): Promise<Claim>;
  /** States by key, undefined where there is none. */
  load(partition: number, keys: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  commit(claim: Claim, commit: Commit): Promise<CommitResult>;
  /** Compares the claims with what the store holds, all at once; writes nothing. */
  verify(claims: readonly Claim[]): Promise<readonly ClaimState[]>;
  /** Reads what a claim of the partition would find; takes it from nobody. */
  position(partition: number): Promise<Position>;
  /**
   * Calls back whenever the store was out of reach and may have come back as it was before. Returns how to end that.
   */
  onReturn(listener: () => void): () => void;
}

/**
 * What has become of a claim. `held`: nothing. `fallen_back`: the store has lost what came after some moment, and
 * stands before what the claim did; nobody else need be known of. `claimed`: somebody else claimed the partition since.
 * `unknown`: the store does not answer at the moment.
 */
export type ClaimState = 'held' | 'fallen_back' | 'claimed' | 'unknown';

/** How far a consumer group without states has come, per partition. */
export interface Positions {
  get(group: string, topic: Topic, partition: number): Promise<Position>;
  set(group: string, topic: Topic, partition: number, position: Position): Promise<void>;
}

/** What deliveries are made from: one partition of a topic. Each has a queue of its own. */
export interface DeliverySource {
  readonly topic: typeof topics.events | typeof topics.deliveries;
  readonly partition: number;
}

/** The right to change one source's queue, until somebody claims it after us. */
export interface DeliveryClaim {
  readonly source: DeliverySource;
  readonly token: number;
  /** Offset of the next record of the source to make deliveries of. */
  readonly nextOffset: number;
  /** As in {@link Position}. */
  readonly mark: string | null;
  /**
   * Sequence of the next delivery that is added; those after it count on by one, in the order in which they are given.
   */
  readonly nextSequence: number;
}

/** Where a waiting delivery stands in its queue: by webhook, then time due, then arrival. */
export interface DeliveryPlace {
  /** 24 hex digits. */
  readonly webhook: string;
  /** Epoch ms. */
  readonly dueAtMs: number;
  /** Grows with every delivery added to the source; a delivery keeps its own. */
  readonly sequence: number;
}

export interface WaitingDelivery extends DeliveryPlace {
  /** Tries so far. */
  readonly attempts: number;
  /** An encoded Delivery. */
  readonly value: Buffer;
}

/** What becomes of a delivery after a try: gone from the queue, or waiting for the next. */
export interface Settlement {
  readonly place: DeliveryPlace;
  readonly next: { readonly dueAtMs: number; readonly attempts: number } | null;
}

/** A delivery that was asked for again. It replaces those of the same id that were created before it. */
export interface Replacement {
  /** Id of the delivery. */
  readonly delivery: string;
  /** Epoch ms. */
  readonly createdAtMs: number;
}

/** How a webhook has been doing. Epoch ms, null: never, or not since the last success. */
export interface WebhookHealth {
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
}

/**
 * Deliveries that wait, per source and webhook, on disk: a million of them cost no memory. The deliveries of a batch
 * and the position after it are written wholly or not at all, so that none is lost and none made twice. Changes by an
 * owner that has been replaced answer `fenced` and write nothing. A change is visible when it resolves and reaches the
 * disk in order.
 */
export interface DeliveryQueue {
  /** Increments the owner token. */
  claim(source: DeliverySource): Promise<DeliveryClaim>;
  /** `expectedOffset` must equal the position that the queue holds. */
  add(
    claim: DeliveryClaim,
    batch: {
      readonly expectedOffset: number;
      readonly nextOffset: number;
      /** As in {@link Position}; default null. */
      readonly mark?: string | null;
      readonly deliveries: readonly { readonly webhook: string; readonly dueAtMs: number; readonly value: Buffer }[];
    },
  ): Promise<CommitResult>;
  /** The webhook's first deliveries in order of their places, due or not; those beyond `after` where it is given. */
  waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<readonly WaitingDelivery[]>;
  /** The webhooks that anything waits for, with the first time due. */
  webhooks(source: DeliverySource): Promise<readonly { readonly webhook: string; readonly nextDueAtMs: number }[]>;
  /** Places that hold nothing (any more) are passed over. */
  settle(claim: DeliveryClaim, settlements: readonly Settlement[]): Promise<CommitResult>;
  /** Forgets all that waits for the webhook. */
  drop(claim: DeliveryClaim, webhook: string): Promise<CommitResult>;
  /** As of a StateStore; settlements and drops that the queue has forgotten count as well. */
  verify(claims: readonly DeliveryClaim[]): Promise<readonly ClaimState[]>;
  /** As of a StateStore. */
  position(source: DeliverySource): Promise<Position>;
  /** As of a StateStore. */
  onReturn(listener: () => void): () => void;
  /** Deliveries that wait, of all sources. */
  size(): Promise<number>;
  /**
   * Records replacements for at least `keepMs`. They apply to the deliveries of all sources, whoever owns them. Of
   * several replacements of one delivery, the last one written counts.
   */
  replace(webhook: string, replacements: readonly Replacement[], keepMs: number): Promise<void>;
  /** Reads when the newest replacement of each delivery was created, in epoch ms; undefined where none is recorded. */
  replacedAt(webhook: string, deliveries: readonly string[]): Promise<readonly (number | undefined)[]>;
  health(webhook: string): Promise<WebhookHealth>;
  setHealth(webhook: string, health: WebhookHealth): Promise<void>;
}

/**
 * What the stage tells a waiting request of one location, as JSON: the user afterwards and the events it caused, in
 * wire form, and what the
 * SDK wants to know of its context. `events` is empty for a repeat or a stale location.
 */
export interface TrackReply {
  readonly recordId: string;
  readonly result: OutcomeResult;
  /** Of the last location of a request in a batch only: nobody asks for the others'. */
  readonly user?: User;
  readonly events: Event[];
  /**
   * Geofences and beacons that the user is not inside of only because it is inside of as many as it can be; absent for
   * none.
   */
  readonly notEntered?: number;
  /** Only when the location asked for them. */
  readonly nearbyGeofences?: object[];
}

/**
 * Carries the outcome of a location back to the request that waits for it. Best effort: a lost reply costs an answer
 * without events.
 */
export interface Replies {
  /** `replyTo` as the location carried it. `body` is a JSON TrackReply. */
  send(replyTo: string, body: string): void;
}

/** Where replies to this process arrive. */
export interface Inbox {
  /** Address under which replies to this process arrive; `${address}/${request}` goes into `replyTo`. */
  readonly address: string;
  /** Called for each reply with the request's part of `replyTo`. */
  onReply(listener: (request: string, body: string) => void): void;
}

/** Work by the clock that any node may do, and one at a time should. */
export interface Leases {
  /**
   * True when the work called `name` is this node's until `intervalMs` have passed: of the nodes that ask within an
   * interval, one gets it. For work that bears being done twice: a clock or a store that falls back may give it to two.
   */
  take(name: string, intervalMs: number): Promise<boolean>;
}

/** ClickHouse's names of the formats that answers can be had in as files. */
export type FileFormat = 'CSVWithNames' | 'Parquet';

/** Rows in, rows out: the part of ClickHouse that we use, the same over chDB and over a server. */
export interface Analytics {
  /** A statement without an answer, such as CREATE TABLE. */
  command(sql: string): Promise<void>;
  /**
   * Rows as UTF-8 text, tab-separated, the first line naming the columns (ClickHouse's TabSeparatedWithNames); columns
   * that are not named get their defaults. Resolves when the rows are stored.
   */
  insert(table: string, rows: Uint8Array): Promise<void>;
  /** Parameters are bound, never spliced: `{name:Type}` in the SQL. */
  query<Row>(sql: string, parameters?: Record<string, unknown>): Promise<Row[]>;
  /** As `query`, answered as a file in the format. */
  file(sql: string, format: FileFormat, parameters?: Record<string, unknown>): Promise<Uint8Array>;
}
