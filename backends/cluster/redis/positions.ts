/** Positions of consumer groups without states, in one hash. */
import type { Positions, Topic } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';

/** A repeated `set` writes the same again. One that a lost connection delays past its successor sets a group back: it repeats records. */
export function createRedisPositions({ client, options, withRetries }: RedisConnection): Positions {
  const key = `${options.prefix}positions`;
  const fieldOf = (group: string, topic: Topic, partition: number): string => `${group}|${topic}|${partition}`;
  return {
    async get(group, topic, partition) {
      return Number((await withRetries(() => client.hget(key, fieldOf(group, topic, partition)))) ?? 0);
    },
    async set(group, topic, partition, nextOffset) {
      await withRetries(() => client.hset(key, fieldOf(group, topic, partition), nextOffset));
    },
  };
}
