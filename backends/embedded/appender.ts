/**
 * Group commit: appends that arrive during a transaction share the next one and its fsync. The bytes in flight are
 * bounded; beyond the limit an append rejects as `overloaded`.
 */
import { PortError } from '../../pipeline/errors.js';
import type { NewRecord, Topic } from '../../pipeline/ports.js';
import { createDeferred, type Deferred } from '../../schemas/deferred.js';
import type { Environment } from './environment.js';
import type { RecordGroup, TopicStore } from './topic-store.js';

/** The appends of one transaction. */
interface Batch {
  readonly groups: Map<Topic, RecordGroup>;
  bytes: number;
  readonly written: Deferred<void>;
}

function newBatch(): Batch {
  const written = createDeferred();
  // Each append awaits it. A batch without appends must not count as an unhandled rejection.
  written.promise.catch(() => {});
  return { groups: new Map(), bytes: 0, written };
}

interface AppenderOptions {
  readonly environment: Environment;
  readonly maxInFlightBytes: number;
  /** Called with the topics of each batch once it is durable. */
  readonly onWritten: (topics: readonly Topic[]) => void;
}

/** The appends of one environment of LMDB. */
export class Appender {
  /** Bytes of keys and values that were accepted and are not durable yet. */
  inFlightBytes = 0;
  private batch = newBatch();
  private running: Promise<void> | undefined;

  constructor(private readonly options: AppenderOptions) {}

  /**
   * Appends records. Resolves when they are durable. Throws `overloaded` when too many bytes are in flight, and as
   * `store.check` does.
   */
  append(topic: Topic, store: TopicStore, records: readonly NewRecord[]): Promise<void> {
    let bytes = 0;
    for (const record of records) {
      store.check(record);
      bytes += record.key.length + (record.value === null ? 0 : record.value.length);
    }
    if (this.inFlightBytes > 0 && this.inFlightBytes + bytes > this.options.maxInFlightBytes) {
      throw new PortError('overloaded', 'too many bytes are in flight to the log', { retryAfterS: 1 });
    }
    this.inFlightBytes += bytes;
    this.batch.bytes += bytes;
    const group = this.groupOf(topic, store);
    for (const record of records) group.add(record);
    this.running ??= this.run();
    return this.batch.written.promise;
  }

  /** Resolves when nothing is in flight. */
  async drained(): Promise<void> {
    await this.running;
  }

  private groupOf(topic: Topic, store: TopicStore): RecordGroup {
    const group = this.batch.groups.get(topic) ?? store.group();
    this.batch.groups.set(topic, group);
    return group;
  }

  private async run(): Promise<void> {
    while (this.batch.groups.size > 0) await this.writeBatch();
    this.running = undefined;
  }

  private async writeBatch(): Promise<void> {
    const { environment, onWritten } = this.options;
    let batch = this.batch;
    try {
      await environment.attempt(() => {
        // Taken after the write lock was acquired, so that the batch includes everything that arrived in between.
        batch = this.batch;
        this.batch = newBatch();
        const nowMs = Date.now();
        for (const group of batch.groups.values()) group.write(nowMs);
      });
      await environment.flushed();
      batch.written.resolve();
      onWritten([...batch.groups.keys()]);
    } catch (error) {
      if (batch === this.batch) this.batch = newBatch();
      batch.written.reject(error);
    } finally {
      this.inFlightBytes -= batch.bytes;
      for (const group of batch.groups.values()) group.release();
    }
  }
}
