/** The mark in Redis that the number of partitions is being changed: with it, no node starts. */
import type { RedisConnection } from '../redis/connection.js';

/** Numbers of partitions. */
export interface Change {
  readonly from: number;
  readonly to: number;
}

const keyOf = ({ options }: RedisConnection): string => `${options.prefix}repartition`;

export async function changeUnderWay(redis: RedisConnection): Promise<Change | undefined> {
  const text = await redis.withRetries(() => redis.client.get(keyOf(redis)));
  return text === null ? undefined : (JSON.parse(text) as Change);
}

export async function mark(redis: RedisConnection, { from, to }: Change): Promise<void> {
  await redis.withRetries(() => redis.client.set(keyOf(redis), JSON.stringify({ from, to })));
}

export async function unmark(redis: RedisConnection): Promise<void> {
  await redis.withRetries(() => redis.client.del(keyOf(redis)));
}

/** For who starts: throws while a change is under way. */
export async function refuseDuringChange(redis: RedisConnection): Promise<void> {
  const change = await changeUnderWay(redis);
  if (change === undefined) return;
  const { from, to } = change;
  throw new Error(
    `the partitions are being changed from ${from} to ${to}: wait for "fenceline repartition --partitions ${to}", or run it again if it ended`,
  );
}
