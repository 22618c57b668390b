/**
 * Reads topic `events` as it grows, once for all who follow it on this node.
 *
 * A record is decoded when somebody listens to its project and environment, and its message is made when somebody's
 * filters match: once, whoever gets it. Listeners are told everything in one go per batch, so that each costs one
 * write.
 */
import { type Log, type LogRecord, topics } from '../../pipeline/ports.js';
import { decodeRecord } from '../../pipeline/records/decode.js';
import { codecs } from '../../schemas/codecs.js';
import type { Event } from '../../schemas/records.js';
import { eventMessage } from './messages.js';
import type { Position } from './position.js';
import { scopeOfKey } from './scopes.js';
import { boundsOf } from './start.js';

/**
 * With a hundred streams that want every record about four milliseconds of work; then others on this thread get their
 * turn.
 */
const maxBatchRecords = 50;

export interface Listener {
  /** As `scopeName` of what it may see. */
  readonly scope: string;
  matches(event: Event): boolean;
  /** The messages of one batch, in order. */
  take(messages: Buffer): void;
}

export interface Tailer {
  /** Up to here every listener has been told everything. */
  readonly position: Position;
  /** From {@link Tailer.position} on. */
  listen(listener: Listener): void;
  forget(listener: Listener): void;
  /** Resolves at the next growth of the topic. */
  moved(): Promise<void>;
  close(): Promise<void>;
}

/** Starts at the end of the topic. An unexpected failure is an unhandled rejection, and ends the process. */
export async function startTailer(log: Log): Promise<Tailer> {
  const position = (await boundsOf(log)).map(({ end }) => end);
  const listeners = new Map<string, Set<Listener>>();
  const growth = createGrowth();

  function offer(record: LogRecord, told: Map<Listener, Buffer[]>): void {
    const audience = listeners.get(scopeOfKey(record.key));
    if (audience === undefined) return;
    const event = decodeRecord(codecs.event, record);
    // The analytics sink sets it aside; nobody can be told.
    if ('reason' in event) return;
    let message: Buffer | undefined;
    for (const listener of audience) {
      if (!listener.matches(event)) continue;
      // As bytes: encoding is most of the work, and copying bytes to each listener is next to none.
      message ??= Buffer.from(eventMessage(event, position));
      const messages = told.get(listener);
      if (messages === undefined) told.set(listener, [message]);
      else messages.push(message);
    }
  }

  /** Without a pause: the position and what was told are always of the same moment. */
  function take(partition: number, records: readonly LogRecord[]): void {
    const told = new Map<Listener, Buffer[]>();
    for (const record of records) {
      position[partition] = record.offset + 1;
      offer(record, told);
    }
    for (const [listener, messages] of told) listener.take(Buffer.concat(messages));
    growth.tell();
  }

  const subscription = log.consume({
    topic: topics.events,
    // Every node tells all events to its own listeners.
    group: null,
    maxBatchRecords,
    maxWaitMs: 0,
    handler: {
      assigned: async (partition) => position[partition]!,
      // Listeners are told what the log has now; what it lost they had.
      diverged: async (partition, { commonEnd, end }) => {
        position[partition] = commonEnd ?? end;
        return position[partition]!;
      },
      records: async (partition, records) => take(partition, records),
      revoked: async () => {},
    },
  });
  void subscription.done;

  return {
    position,
    listen(listener) {
      listeners.set(listener.scope, (listeners.get(listener.scope) ?? new Set()).add(listener));
    },
    forget(listener) {
      const audience = listeners.get(listener.scope);
      audience?.delete(listener);
      if (audience?.size === 0) listeners.delete(listener.scope);
    },
    moved: growth.next,
    close: () => subscription.close(),
  };
}

/** A promise for whoever waits, resolved and replaced each time. */
function createGrowth(): { tell(): void; next(): Promise<void> } {
  let resolve: () => void;
  let promise: Promise<void>;
  function renew(): void {
    promise = new Promise((settle) => {
      resolve = settle;
    });
  }
  renew();
  return {
    tell() {
      resolve();
      renew();
    },
    next: () => promise,
  };
}
