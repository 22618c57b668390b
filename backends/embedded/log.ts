/** The log port on LMDB, with group commit for appends, wake-ups for consumers and sweeps for retention. */
import { isPortError, PortError } from '../../pipeline/errors.js';
import { type Log, type NewRecord, type Subscription, type Topic, topics } from '../../pipeline/ports.js';
import { Appender } from './appender.js';
import { startConsumer } from './consumer.js';
import type { Environment } from './environment.js';
import { partitionOfKey } from './partitioner.js';
import { createSpace, type Space } from './space.js';
import type { Storage } from './storage.js';
import { readSlice } from './topic-store.js';

const defaultMaxInFlightBytes = 64 * 2 ** 20;

/** Bounds of appends. */
export interface LogOptions {
  /** Bytes in flight per environment before appends reject as `overloaded`. Default 64 MiB. */
  readonly maxInFlightBytes?: number;
  /** Default: no limit. */
  readonly space?: Space;
  /** What appends do while the disk is full: reject with `storage_full`, or wait for free space. Default `refuse`. */
  readonly whenFull?: 'refuse' | 'wait';
}

/** Several threads and processes may have the same folder open. Each consumer gets all partitions of its topic. */
export interface EmbeddedLog extends Log {
  /** Bytes of keys and values accepted by this thread's `append` and not durable yet. */
  readonly inFlightBytes: number;
  /**
   * Resolves when the records are durable. Rejects with PortError `overloaded` when too many bytes are in flight,
   * `storage_full` if appends don't wait for space, and `unavailable` after close.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /** Removes blocks and tombstones that are older than the topic's retention. One thread must call it regularly. */
  sweep(nowMs: number): Promise<void>;
  /** Closes the subscriptions and waits for appends in flight. Leaves the storage open. */
  close(): Promise<void>;
}

/** Creates the log in a storage that the caller opens. The caller closes the log first, and then the storage. */
export function createLog(storage: Storage, options: LogOptions = {}): EmbeddedLog {
  const { maxInFlightBytes = defaultMaxInFlightBytes, space = createSpace(), whenFull = 'refuse' } = options;
  const { wakeups, topics: stores } = storage;
  const onWritten = (written: readonly Topic[]): void => wakeups.wake(written);
  const newAppender = (environment: Environment): Appender =>
    new Appender({ environment, maxInFlightBytes, onWritten });
  const logAppender = newAppender(storage.logEnvironment);
  const stateAppender = newAppender(storage.stateEnvironment);
  const subscriptions = new Set<Subscription>();
  let closed = false;

  async function appendWhenWritable(append: () => Promise<void>): Promise<void> {
    for (;;) {
      await space.writable();
      try {
        return await append();
      } catch (error) {
        if (!isPortError(error, 'storage_full')) throw error;
      }
    }
  }

  const read: Log['read'] = async (topic, partition, offset, maxRecords, maxBytes) => {
    const store = stores[topic];
    store.environment.refresh();
    return readSlice(store, partition, offset, maxRecords, maxBytes);
  };

  const bounds: Log['bounds'] = async (topic, partition) => {
    const store = stores[topic];
    store.environment.refresh();
    return { first: store.first(partition), end: store.end(partition) };
  };

  const end: Log['end'] = async (topic, partition) => {
    const store = stores[topic];
    store.environment.refresh();
    return store.end(partition);
  };

  return {
    get inFlightBytes() {
      return logAppender.inFlightBytes + stateAppender.inFlightBytes;
    },
    partitions: (topic) => stores[topic].partitions,
    partitionOf: (topic, key) => partitionOfKey(key, stores[topic].partitions),
    async append(topic, records) {
      if (closed) throw new PortError('unavailable', 'the log is closed');
      if (records.length === 0) return;
      const store = stores[topic];
      const appender = store.environment === storage.logEnvironment ? logAppender : stateAppender;
      const append = () => appender.append(topic, store, records);
      await (whenFull === 'wait' ? appendWhenWritable(append) : append());
    },
    consume(options) {
      if (closed) throw new PortError('unavailable', 'the log is closed');
      const consumer = startConsumer({ ...options, store: stores[options.topic], wakeups, log: { read, bounds } });
      const subscription: Subscription = {
        done: consumer.done,
        async close() {
          await consumer.close();
          subscriptions.delete(subscription);
        },
      };
      subscriptions.add(subscription);
      return subscription;
    },
    read,
    bounds,
    end,
    async sweep(nowMs) {
      for (const topic of Object.values(topics)) {
        const store = stores[topic];
        while (await store.environment.transaction(() => store.sweep(nowMs)));
      }
    },
    async close() {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await Promise.all([logAppender.drained(), stateAppender.drained()]);
    },
  };
}
