/** Positions of consumer groups without states, in one hash. Offset and mark are separate fields. */
import type { Positions, Topic } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';

/**
 * Creates the positions of groups on Redis. Repeating `set` is safe. A `set` that a lost connection delays past a later
 * one moves the group back, and it reads records again.
 */
export function createRedisPositions({ client, options, withRetries }: RedisConnection): Positions {
  const key = `${options.prefix}positions`;
  const fieldOf = (group: string, topic: Topic, partition: number): string => `${group}|${topic}|${partition}`;
  const markFieldOf = (field: string): string => `${field}|mark`;
  return {
    async get(group, topic, partition) {
      const field = fieldOf(group, topic, partition);
      const [offset, mark] = await withRetries(() => client.hmget(key, field, markFieldOf(field)));
      return { offset: Number(offset ?? 0), mark: mark || null };
    },
    async set(group, topic, partition, { offset, mark }) {
      const field = fieldOf(group, topic, partition);
      await withRetries(() => client.hset(key, field, offset, markFieldOf(field), mark ?? ''));
    },
  };
}
