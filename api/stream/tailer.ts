/**
 * Reads new records of topic `events` once for all followers on this node.
 *
 * A record is decoded once, if somebody listens to its project and environment; its message is formatted once, if
 * somebody's filters match. Each listener gets one buffer per batch, so that it costs one write; listeners with the
 * same messages get the same buffer. A batch of large records has several parts with a buffer each.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, type LogRecord, topics } from '../../pipeline/ports.js';
import { decodeRecord, isBadRecord } from '../../pipeline/records/decode.js';
import { scopeOfKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { Condition } from '../../schemas/condition.js';
import type { Event } from '../../schemas/records.js';
import { eventMessage } from './messages.js';
import type { Position } from './position.js';
import { boundsOf } from './start.js';

/** About 4 ms of work with a hundred streams that want every record; other work on this thread runs in between. */
const maxBatchRecords = 50;
/** Bytes of records after which clients are given time to read. What they get at once waits in memory for slow ones. */
const maxPartBytes = 2 ** 17;
/** Bytes for all clients together after which other work of this thread runs: a project may have hundreds of them. */
const maxTurnBytes = 2 ** 22;

/** A stream that has reached the end of the topic, and gets what comes next. */
export interface Listener {
  /** `scopeName` of the client. */
  readonly scope: string;
  matches(event: Event): boolean;
  /** Receives the messages of a part of a batch, in order. Others who want the same ones get the same buffer. */
  receive(messages: Buffer): void;
}

/** Waits for the first record of a scope since its creation. */
interface Watch {
  /** Resolves when there is a record. */
  readonly heard: Promise<void>;
  /** Returns a position before that record, or the tailer's if there is none yet. */
  quietUntil(): Position;
  end(): void;
}

/** Reads the end of topic `events` once for all streams of this node. */
export interface Tailer {
  /** Position after the last record passed to listeners. */
  readonly position: Position;
  /** Adds a listener, from {@link Tailer.position} on. */
  listen(listener: Listener): void;
  unlisten(listener: Listener): void;
  /** Resolves when the topic grows next. */
  grown(): Promise<void>;
  /** Watches for a record of the scope, as of `scopeName`; undefined: for any record. */
  watch(scope: string | undefined): Watch;
  close(): Promise<void>;
}

/**
 * The messages of a part so far, and the one bundle that continues them. Listeners who want the same messages share a
 * bundle and its bytes, so that what waits for many slow clients is in memory once.
 */
class Bundle {
  #bytes: Buffer | undefined;
  #next: Bundle | undefined;

  constructor(
    private readonly before: Bundle | undefined,
    private readonly message: Buffer,
  ) {}

  /** The messages in order. */
  get bytes(): Buffer {
    if (this.before === undefined) return this.message;
    this.#bytes ??= Buffer.concat(this.#messages());
    return this.#bytes;
  }

  /** Returns the bundle with one more message. Messages come one after the other, so only the newest is kept. */
  with(message: Buffer): Bundle {
    if (this.#next?.message !== message) this.#next = new Bundle(this, message);
    return this.#next;
  }

  #messages(): Buffer[] {
    const messages: Buffer[] = [];
    for (let bundle: Bundle | undefined = this; bundle !== undefined; bundle = bundle.before)
      messages.push(bundle.message);
    return messages.reverse();
  }
}

/** Starts at the end of the topic. An unexpected failure is an unhandled rejection, which ends the process. */
export async function startTailer(log: Log): Promise<Tailer> {
  const position = (await boundsOf(log)).map(({ end }) => end);
  const listeners = new Map<string, Set<Listener>>();
  const growth = new Condition();
  /** Called with the first record of their scope. */
  const watches = new Map<string | undefined, Set<() => void>>();

  function offer(scope: string, record: LogRecord, bundleOf: Map<Listener, Bundle>): void {
    const audience = listeners.get(scope);
    if (audience === undefined) return;
    const event = decodeRecord(codecs.event, record);
    // The analytics sink dead-letters it.
    if (isBadRecord(event)) return;
    let first: Bundle | undefined;
    for (const listener of audience) {
      if (!listener.matches(event)) continue;
      // Encoded once: encoding is most of the work.
      first ??= new Bundle(undefined, Buffer.from(eventMessage(event, position)));
      bundleOf.set(listener, bundleOf.get(listener)?.with(first.bytes) ?? first);
    }
  }

  function wake(scope: string | undefined): void {
    for (const hear of watches.get(scope) ?? []) hear();
    watches.delete(scope);
  }

  function unwatch(scope: string | undefined, hear: () => void): void {
    const others = watches.get(scope);
    others?.delete(hear);
    if (others?.size === 0) watches.delete(scope);
  }

  function watch(scope: string | undefined): Watch {
    let before: Position | undefined;
    let resolve: () => void = () => {};
    const heard = new Promise<void>((settle) => (resolve = settle));
    function hear(): void {
      before = [...position];
      resolve();
    }
    watches.set(scope, (watches.get(scope) ?? new Set()).add(hear));
    return { heard, quietUntil: () => before ?? [...position], end: () => unwatch(scope, hear) };
  }

  /** Must stay synchronous: the position and the messages must match at all times. */
  function dispatch(partition: number, records: readonly LogRecord[]): void {
    const bundleOf = new Map<Listener, Bundle>();
    for (const record of records) {
      const scope = scopeOfKey(record.key);
      wake(undefined);
      wake(scope);
      position[partition] = record.offset + 1;
      offer(scope, record, bundleOf);
    }
    for (const [listener, { bytes }] of bundleOf) listener.receive(bytes);
    growth.notifyAll();
  }

  async function dispatchInParts(partition: number, records: readonly LogRecord[]): Promise<void> {
    let start = 0;
    let bytes = 0;
    let bytesOfAll = 0;
    for (const [index, { key, value }] of records.entries()) {
      const length = value?.length ?? 0;
      bytes += length;
      bytesOfAll += length * (listeners.get(scopeOfKey(key))?.size ?? 0);
      if (bytes < maxPartBytes && bytesOfAll < maxTurnBytes) continue;
      dispatch(partition, records.slice(start, index + 1));
      start = index + 1;
      bytes = 0;
      bytesOfAll = 0;
      await nextTurn();
    }
    dispatch(partition, records.slice(start));
  }

  const subscription = log.consume({
    topic: topics.events,
    // Every node serves all events to its own listeners.
    group: null,
    maxBatchRecords,
    maxWaitMs: 0,
    handler: {
      assigned: async (partition) => position[partition]!,
      // Listeners get the records that the log holds now; they had the lost ones before.
      diverged: async (partition, { commonEnd, end }) => {
        position[partition] = commonEnd ?? end;
        return position[partition]!;
      },
      records: dispatchInParts,
      passed: async (partition, nextOffset) => {
        position[partition] = nextOffset;
        growth.notifyAll();
      },
      revoked: async () => {},
    },
  });
  void subscription.done;

  return {
    position,
    listen(listener) {
      listeners.set(listener.scope, (listeners.get(listener.scope) ?? new Set()).add(listener));
    },
    unlisten(listener) {
      const audience = listeners.get(listener.scope);
      audience?.delete(listener);
      if (audience?.size === 0) listeners.delete(listener.scope);
    },
    grown: () => growth.wait(),
    watch,
    close: () => subscription.close(),
  };
}
