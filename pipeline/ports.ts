/**
 * The interfaces through which stages use storage and messaging. `backends/embedded` and `backends/cluster` implement
 * them; one contract suite per port runs on both.
 *
 * Rules of every implementation: a resolved promise means done (durable where it says so); rejection means unexpected,
 * and the caller lets it end the process; expected refusals are values. Nothing buffers without bound.
 */
import type { Event, User } from '../schemas/json/user.js';
import type { OutcomeResult } from '../schemas/records.js';

/** The names of all topics. Clusters may add a prefix to them. */
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
/** Name of a topic without the prefix of the installation. */
export type Topic = (typeof topics)[keyof typeof topics];

/** Short texts that a record carries, by name. */
export type RecordHeaders = Readonly<Record<string, string>>;

/** A record to append. `value: null` is a tombstone, which only compacted topics have. */
export interface NewRecord {
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
}

/**
 * A record of the log. `value` may be a slice of a larger buffer. It is valid until the handler that received it
 * settles.
 */
export interface LogRecord {
  readonly key: string;
  readonly value: Buffer | null;
  /** Absent if the record has none. */
  readonly headers?: RecordHeaders;
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds of the append. */
  readonly timestamp: number;
  /** Epoch of the leader that appended the record; absent if the log has no leader epochs. */
  readonly leaderEpoch?: number;
}

/** A position in a partition: all records before `offset` are processed. */
export interface Position {
  readonly offset: number;
  /**
   * Identifies the last record before `offset` (`positions.ts`). Null if unknown: at the start, and in positions of
   * releases without marks.
   */
  readonly mark: string | null;
}

/** The difference between a partition and the log that a position was taken from. */
export interface Divergence {
  readonly topic: Topic;
  readonly partition: number;
  readonly position: Position;
  /** Bounds of the current log: the first offset it holds, and the offset after the last record. */
  readonly first: number;
  readonly end: number;
  /**
   * The log is unchanged at least up to this offset, so reading can continue here. Null if unknown.
   */
  readonly commonEnd: number | null;
  /** Leader epoch of the record at `commonEnd`; null if there is no such record or the log has no leader epochs. */
  readonly leaderEpoch: number | null;
}

/** Records that retention removed before they were handed over. */
export interface ExpiredRecords {
  readonly topic: Topic;
  readonly partition: number;
  /** Offset of the first one. */
  readonly from: number;
  /** Offset after the last one. */
  readonly end: number;
}

/**
 * Result of a handler: nothing when the records are processed. `halted`: the records are not processed, and the
 * partition delivers no more until it is assigned again.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers never halt, and return nothing.
export type HandOverResult = 'halted' | void;

/** Callbacks for the partitions of a subscription. Offsets are those of the next record to read. */
export interface StreamHandler {
  /**
   * Called once when the partition is assigned to this process. Returns the position to start from. `isOurs` reports
   * whether it is still assigned: an owner that was fenced checks it before it claims again.
   */
  assigned(partition: number, isOurs: () => boolean): Promise<number | Position>;
  /** Called with records in offset order, never concurrently for one partition; the next call waits for the promise. */
  records(partition: number, records: readonly LogRecord[]): Promise<HandOverResult>;
  /** Called before the partition is revoked: finish work in flight, commit, release. */
  revoked(partition: number): Promise<void>;
  /**
   * Called, like `records`, when the log differs from the one that was read up to a position: the one of `assigned`, or
   * one after delivered records. Returns the position to continue from, which is compared in turn. The log does not
   * wait for the result once the partition is revoked. Without this callback nothing is compared, and the handler waits
   * for missing offsets.
   */
  diverged?(partition: number, divergence: Divergence): Promise<number | Position>;
  /**
   * Called, like `records`, when the offsets up to `nextOffset` hold no record that was not handed over, and none
   * follows yet: compaction or retention removed them, or they hold markers of Kafka's transactions.
   */
  passed?(partition: number, nextOffset: number): Promise<void>;
  /**
   * Called when retention has removed records that follow a position, before they were handed over. Reading continues
   * after them. A partition that was never read may begin anywhere, so it reports nothing.
   */
  expired?(records: ExpiredRecords): void;
}

/** A running consumer. Its owner closes it, and ends the process when `done` rejects. */
export interface Subscription {
  /** Stops fetching, waits for handlers, revokes all partitions. */
  close(): Promise<void>;
  /** Rejects if a handler or the log failed: the process then ends. Resolves on close. */
  readonly done: Promise<void>;
}

/** What to consume, and in which batches. A batch has records of one partition. */
export interface ConsumeOptions {
  readonly topic: Topic;
  /** Consumers of one group share the partitions; null: this consumer reads all partitions. */
  readonly group: string | null;
  readonly handler: StreamHandler;
  readonly maxBatchRecords: number;
  /** Time to wait for a batch of `maxBatchRecords`; 0 delivers records at once. */
  readonly maxWaitMs: number;
}

/**
 * Default limit on the bytes of keys and values that one read returns: enough for a page, small beside a process's
 * memory.
 */
export const defaultReadBytes = 4 * 2 ** 20;

/** What one read of a partition returned. */
export interface LogSlice {
  /** In offset order. */
  readonly records: readonly LogRecord[];
  /**
   * The offset to read on from, after everything that was read; the requested offset when nothing was. No record is
   * left between it and the last one. Offsets without a record were removed, or hold a marker of a Kafka transaction.
   */
  readonly nextOffset: number;
}

/**
 * Partitioned, durable, ordered logs. A consumer never receives records of another history than the one it has read:
 * the log compares them when it assigns a partition, and whenever the log may have been replaced.
 */
export interface Log {
  partitions(topic: Topic): number;
  /** Returns the partition of records with this key. */
  partitionOf(topic: Topic, key: string): number;
  /**
   * Resolves when all records are durable. Records with the same key keep their order. Concurrent appends are batched.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  consume(options: ConsumeOptions): Subscription;
  /**
   * Returns records from `offset` without waiting, and none only at the end. Returns at most `maxRecords`, and at most
   * `maxBytes` of keys and values ({@link defaultReadBytes} by default), but at least one record of any size. Reading
   * on from `nextOffset` therefore returns everything.
   */
  read(topic: Topic, partition: number, offset: number, maxRecords: number, maxBytes?: number): Promise<LogSlice>;
  /** Returns the first offset that the log holds and the offset after the last record. */
  bounds(topic: Topic, partition: number): Promise<{ readonly first: number; readonly end: number }>;
  /** Returns the offset after the last record. In Kafka this takes one request, and `bounds` two. */
  end(topic: Topic, partition: number): Promise<number>;
}

/** Exclusive ownership of one partition's state, until another process claims it. */
export interface Claim {
  readonly partition: number;
  readonly token: number;
  /** Offset of the next record to apply. */
  readonly nextOffset: number;
  /** As in {@link Position}. */
  readonly mark: string | null;
}

/** The changes of one batch to its partition. Written atomically. */
export interface Commit {
  /** Must equal the position that the store holds; otherwise the commit is fenced. */
  readonly expectedOffset: number;
  readonly nextOffset: number;
  /** As in {@link Position}; default null. */
  readonly mark?: string | null;
  /** Encoded DeviceState by device key; null deletes. */
  readonly states: ReadonlyMap<string, Buffer | null>;
  /** For topics `events`, `outcomes` and `dead-letters`. Published at least once, with the same bytes each time. */
  readonly publish: readonly { readonly topic: Topic; readonly records: readonly NewRecord[] }[];
}

/** `fenced`: another owner claimed the partition, or the position is not the expected one. Nothing was written. */
export type CommitResult = 'committed' | 'fenced';

/** Device states, position and unpublished events of each partition, committed together. */
export interface StateStore {
  /** Increments the owner token and publishes the records that an earlier owner left in the outbox. */
  claim(partition: number): Promise<Claim>;
  /** Returns the states in the order of the keys; undefined where there is none. */
  load(partition: number, keys: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  commit(claim: Claim, commit: Commit): Promise<CommitResult>;
  /** Compares the claims with the store, all at once. Writes nothing. */
  verify(claims: readonly Claim[]): Promise<readonly ClaimState[]>;
  /** Reads the stored position without claiming the partition. */
  position(partition: number): Promise<Position>;
  /**
   * Calls the listener whenever the store was unreachable and may have come back in an earlier state. Returns a
   * function that removes the listener.
   */
  onReturn(listener: () => void): () => void;
}

/**
 * Status of a claim. `held`: still valid. `fallen_back`: the store lost its latest writes, among them some of this
 * claim; no other owner needs to be known. `claimed`: another owner claimed the partition. `unknown`: the store does
 * not respond.
 */
export type ClaimState = 'held' | 'fallen_back' | 'claimed' | 'unknown';

/** Positions of consumer groups without state, per partition. */
export interface Positions {
  get(group: string, topic: Topic, partition: number): Promise<Position>;
  set(group: string, topic: Topic, partition: number, position: Position): Promise<void>;
}

/** The topics from which deliveries are made. */
export const deliveryTopics = [topics.events, topics.deliveries] as const;

/** A partition from which deliveries are made. Each has its own queue. */
export interface DeliverySource {
  readonly topic: (typeof deliveryTopics)[number];
  readonly partition: number;
}

/** Returns all sources. Their order stays the same, because cursors name sources by their place in it. */
export const deliverySources = (log: Pick<Log, 'partitions'>): DeliverySource[] =>
  deliveryTopics.flatMap((topic) =>
    Array.from({ length: log.partitions(topic) }, (_, partition) => ({ topic, partition })),
  );

/** Exclusive ownership of one source's queue, until another process claims it. */
export interface DeliveryClaim {
  readonly source: DeliverySource;
  readonly token: number;
  /** Offset of the next source record to make deliveries from. */
  readonly nextOffset: number;
  /** As in {@link Position}. */
  readonly mark: string | null;
  /**
   * Sequence of the next delivery to add. Deliveries are numbered by ones, in the order in which they are added.
   */
  readonly nextSequence: number;
}

/** The place of a pending delivery in its queue, ordered by webhook, due time and sequence. */
export interface DeliveryPlace {
  /** 24 hex digits. */
  readonly webhook: string;
  /** Epoch ms. */
  readonly dueAtMs: number;
  /** Increases with every delivery added to the source. A delivery keeps its number. */
  readonly sequence: number;
}

/** A delivery that waits in its queue for an attempt, due or not. */
export interface WaitingDelivery extends DeliveryPlace {
  /** Attempts so far. */
  readonly attempts: number;
  /** An encoded Delivery. */
  readonly value: Buffer;
}

/**
 * The change to a delivery after an attempt: `next: null` removes it from the queue, else it waits for the next
 * attempt.
 */
export interface Settlement {
  readonly place: DeliveryPlace;
  readonly next: { readonly dueAtMs: number; readonly attempts: number } | null;
}

/** A requested redelivery. It replaces deliveries with the same id that were created before it. */
export interface Replacement {
  /** Id of the delivery. */
  readonly delivery: string;
  /** Epoch ms. */
  readonly createdAtMs: number;
}

/** Limit of a delivery's size in bytes. The stores would accept more. */
export const maxDeliveryBytes = 2 ** 20;

/** Health of a webhook. Times are epoch ms; null: never, or not since the last success. */
export interface WebhookHealth {
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
}

/** The health of a webhook without attempts. */
export const unknownHealth: WebhookHealth = { failingSinceMs: null, lastSuccessAtMs: null };

/**
 * Pending deliveries per source and webhook, on disk: a million of them cost no memory. The deliveries of a batch and
 * the position after it are written atomically, so that none is lost or made twice. Changes by a replaced owner return
 * `fenced` and write nothing. A change is visible when it resolves; changes reach the disk in order.
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
  /** Returns the webhook's first deliveries after `after` in queue order, due or not. */
  waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<readonly WaitingDelivery[]>;
  /** Returns the webhooks with pending deliveries, with the earliest due time of each. */
  webhooks(source: DeliverySource): Promise<readonly { readonly webhook: string; readonly nextDueAtMs: number }[]>;
  /** Applies settlements. Ignores places that hold no delivery. */
  settle(claim: DeliveryClaim, settlements: readonly Settlement[]): Promise<CommitResult>;
  /** Removes all pending deliveries of the webhook. */
  drop(claim: DeliveryClaim, webhook: string): Promise<CommitResult>;
  /** As in a StateStore; lost settlements and drops count as well. */
  verify(claims: readonly DeliveryClaim[]): Promise<readonly ClaimState[]>;
  /** As of a StateStore. */
  position(source: DeliverySource): Promise<Position>;
  /** As of a StateStore. */
  onReturn(listener: () => void): () => void;
  /** Returns the number of pending deliveries of all sources. */
  size(): Promise<number>;
  /**
   * Records replacements for at least `retentionMs`. They apply to the deliveries of all sources and owners. If a
   * delivery has several replacements, the last one written counts.
   */
  replace(webhook: string, replacements: readonly Replacement[], retentionMs: number): Promise<void>;
  /** Reads when the newest replacement of each delivery was created, in epoch ms; undefined where none is recorded. */
  replacedAt(webhook: string, deliveries: readonly string[]): Promise<readonly (number | undefined)[]>;
  /**
   * Removes deliveries whoever owns the source, which needs no claim: the owner skips places that hold no delivery. One
   * that the owner has taken already may still be sent.
   */
  erase(source: DeliverySource, webhook: string, places: readonly DeliveryPlace[]): Promise<void>;
  health(webhook: string): Promise<WebhookHealth>;
  /** Stores the health for at least `retentionMs` after its newer time. Later it is unknown again. */
  setHealth(webhook: string, health: WebhookHealth, retentionMs: number): Promise<void>;
}

/**
 * The JSON that the location stage sends to a waiting request: the user after the location, its events, and the context
 * that the SDK asked for. `events` is empty for a repeat or a stale location.
 */
export interface TrackReply {
  readonly recordId: string;
  readonly result: OutcomeResult;
  /** Only for the last location of a request in a batch: the others are not needed. */
  readonly user?: User;
  readonly events: Event[];
  /**
   * Number of geofences and beacons that the user did not enter because of the limit on visits; absent if none.
   */
  readonly notEntered?: number;
  /** Only if the location requested them. */
  readonly nearbyGeofences?: object[];
}

/**
 * Sends the outcome of a location back to the waiting request. Best effort: a reply may be lost, and the response then
 * has no events. It may arrive twice, when the connection broke after it was sent.
 */
export interface Replies {
  /** Sends a JSON TrackReply to the `replyTo` of a location. */
  send(replyTo: string, body: string): void;
}

/** Receives replies to this process. */
export interface Inbox {
  /** Address of this process. A location carries `${address}/${request}` as `replyTo`. */
  readonly address: string;
  /** Called for each reply with the request's part of `replyTo`; twice for a reply that arrived twice. */
  onReply(listener: (request: string, body: string) => void): void;
}

/** Leases for a fixed time, for work that nodes should not repeat at once. Longer work renews one: `HeldLease`. */
export interface Leases {
  /**
   * Returns true if this node holds the lease `name` for `intervalMs`. One of the nodes that ask within an interval
   * gets it. The work must be safe to run twice: a clock or store that falls back may grant two leases.
   */
  take(name: string, intervalMs: number): Promise<boolean>;
}

/** Limit of a key of {@link ExpiringValues}, in bytes of UTF-8. */
export const maxExpiringKeyBytes = 512;
/** Limit of a value of {@link ExpiringValues}, in bytes of UTF-8. */
export const maxExpiringValueBytes = 256 * 2 ** 10;

/**
 * Short-lived texts that all processes share, such as sessions and counters. Each expires after its time to live.
 *
 * Methods reject with PortError `unavailable` during an outage, and throw RangeError for a key or value beyond its
 * limit. A power cut or a failover may undo the last second of changes.
 */
export interface ExpiringValues {
  /** Returns undefined if there is none, or it has expired. */
  get(key: string): Promise<string | undefined>;
  /**
   * Stores a value and starts its time to live. Returns whether it is stored.
   *
   * With a condition it is stored only if the current value is `current`; null: only if there is none. Also succeeds if
   * it is the current value already, so that a repetition succeeds: competing callers put different values. Rejects
   * with PortError `overloaded` when the store is full.
   */
  put(key: string, value: string, ttlMs: number, condition?: { readonly current: string | null }): Promise<boolean>;
  /**
   * Adds a positive integer to a counter, default 1, and returns it. The time to live starts with the first call, from
   * 0. A retry after a lost reply may count twice. `get` returns the count as a text.
   */
  increment(key: string, ttlMs: number, amount?: number): Promise<number>;
  /** Deletes a value; with a condition only if it is `current`. */
  delete(key: string, condition?: { readonly current: string }): Promise<void>;
}

/** ClickHouse's names of the file formats of query results. */
export type FileFormat = 'CSVWithNames' | 'Parquet';

/** The part of ClickHouse that Fenceline uses, the same over chDB and over a server. */
export interface Analytics {
  /**
   * Runs a statement without a result, such as CREATE TABLE. After the signal aborts, a failed attempt is not repeated.
   */
  command(sql: string, signal?: AbortSignal): Promise<void>;
  /**
   * Inserts rows in ClickHouse's format Native (`schemas/native.ts`). Columns that are not named get their defaults.
   * Resolves when the rows are stored; no bytes are no rows. After the signal aborts, a failed attempt is not repeated.
   */
  insert(table: string, rows: Uint8Array, signal?: AbortSignal): Promise<void>;
  /**
   * Runs a query. Parameters are bound as `{name:Type}`, never concatenated into the SQL. When the signal aborts, the
   * query is cancelled and rejects with the reason of the signal.
   */
  query<Row>(sql: string, parameters?: Record<string, unknown>, signal?: AbortSignal): Promise<Row[]>;
  /** Runs a query as {@link query} and returns the result as a file. */
  file(
    sql: string,
    format: FileFormat,
    parameters?: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<Uint8Array>;
}
