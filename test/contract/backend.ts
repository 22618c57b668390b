/**
 * What a contract suite needs of an implementation of the ports: a fresh one per test, that can be closed and opened
 * again.
 */
import type { DeliveryQueue, Log, LogRecord, NewRecord, Positions, StateStore, Topic } from '../../pipeline/ports.js';

export interface Backend {
  readonly log: Log;
  readonly stateStore: StateStore;
  readonly positions: Positions;
  readonly deliveryQueue: DeliveryQueue;
  close(): Promise<void>;
}

/** A new place for data. `open` opens it, also again after a close. `remove` deletes it. */
export interface BackendSite {
  open(): Promise<Backend>;
  remove(): Promise<void>;
}

/** Runs `use` on a fresh, open backend and cleans up. */
export async function onFreshBackend(
  site: () => Promise<BackendSite>,
  use: (backend: Backend) => Promise<void>,
): Promise<void> {
  await onFreshSite(site, async (place) => {
    const backend = await place.open();
    try {
      await use(backend);
    } finally {
      await backend.close();
    }
  });
}

/** Runs `use` on a new site, which is removed afterwards. */
export async function onFreshSite<Site extends BackendSite>(
  site: () => Promise<Site>,
  use: (place: Site) => Promise<void>,
): Promise<void> {
  const place = await site();
  try {
    await use(place);
  } finally {
    await place.remove();
  }
}

/** Returns a record whose value is UTF-8 text, or a tombstone. */
export const record = (key: string, value: string | null): NewRecord => ({
  key,
  value: value === null ? null : Buffer.from(value),
});

/** Returns the text of a record; null for a tombstone. */
export const textOf = ({ value }: LogRecord): string | null => (value === null ? null : value.toString());

/** Returns all records of the partition, read in small steps. */
export async function readPartition(log: Log, topic: Topic, partition: number, maxRecords = 7): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  let { first: offset } = await log.bounds(topic, partition);
  for (;;) {
    const { records, nextOffset } = await log.read(topic, partition, offset, maxRecords);
    if (records.length === 0) return all;
    all.push(...records);
    offset = nextOffset;
  }
}

/** Returns the topic's records, one list per partition. */
export async function readTopic(log: Log, topic: Topic): Promise<LogRecord[][]> {
  return Promise.all(
    Array.from({ length: log.partitions(topic) }, (_, partition) => readPartition(log, topic, partition)),
  );
}
