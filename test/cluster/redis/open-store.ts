/** A state store on its own connection, which publishes to a list instead of Kafka. */
import type { RedisOptions } from '../../../backends/cluster/options.js';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { createRedisStateStore, type RedisStateStore } from '../../../backends/cluster/redis/state-store.js';
import type { Commit, NewRecord } from '../../../pipeline/ports.js';

export interface OpenStore {
  readonly redis: RedisConnection;
  readonly store: RedisStateStore;
  /** The published values, as Kafka would receive them. */
  readonly published: string[];
  /** Simulates Kafka before it accepts records. */
  kafka: () => Promise<void>;
  stateOf(key: string, partition?: number): Promise<string | undefined>;
}

const textsOf = (records: readonly NewRecord[]): string[] => records.map(({ value }) => `${value}`);

/** Publishes nothing and succeeds. */
export const willing = async () => {};
/** Rejects, as publishing does while Kafka is away. */
export const absent = async () => {
  throw new Error('no Kafka');
};

/** Opens a state store for the time of `use`. */
export async function withStore(
  options: RedisOptions,
  use: (open: OpenStore) => Promise<void>,
  retentionMs = 0,
): Promise<void> {
  const redis = await connectRedis(options, () => {});
  const published: string[] = [];
  const store = createRedisStateStore({
    redis,
    retentionMs,
    wire: { toWire: (_topic, frame) => void frame.write('W') },
    publish: async (_topic, records) => {
      await open.kafka();
      published.push(...textsOf(records));
    },
    publishMissing: async (_topic, records) => {
      await open.kafka();
      published.push(...textsOf(records).filter((text) => !published.includes(text)));
    },
  });
  const open: OpenStore = {
    redis,
    store,
    published,
    kafka: willing,
    stateOf: async (key, partition = 0) => (await store.load(partition, [key]))[0]?.toString(),
  };
  try {
    await use(open);
  } finally {
    await redis.close();
  }
}

/** Returns a commit. The device's state is the offset up to which it was applied, and so is the event. */
export const commitOf = (expectedOffset: number, nextOffset: number, key = 'device'): Commit => ({
  expectedOffset,
  nextOffset,
  states: new Map([[key, Buffer.from(`${nextOffset}`)]]),
  publish: [{ topic: 'events', records: [{ key, value: Buffer.from(`- ${nextOffset}`) }] }],
});
/** Returns how the records of these offsets are published. */
export const published = (...offsets: number[]): string[] => offsets.map((offset) => `W ${offset}`);
