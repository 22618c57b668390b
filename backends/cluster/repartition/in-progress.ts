/** The marker in Redis of a repartition in progress. While it is set, no node starts. */
import type { RedisConnection } from '../redis/connection.js';

/** Numbers of partitions. */
export interface Repartition {
  readonly from: number;
  readonly to: number;
}

const keyOf = ({ options }: RedisConnection): string => `${options.prefix}repartition`;

/** Returns the repartition that was begun and not completed, if there is one. */
export async function repartitionInProgress(redis: RedisConnection): Promise<Repartition | undefined> {
  const text = await redis.withRetries(() => redis.client.get(keyOf(redis)));
  return text === null ? undefined : (JSON.parse(text) as Repartition);
}

/** Sets the marker. It stays until {@link clearInProgress}, also if the process ends. */
export async function setInProgress(redis: RedisConnection, { from, to }: Repartition): Promise<void> {
  await redis.withRetries(() => redis.client.set(keyOf(redis), JSON.stringify({ from, to })));
}

/** Removes the marker, so that nodes start again. */
export async function clearInProgress(redis: RedisConnection): Promise<void> {
  await redis.withRetries(() => redis.client.del(keyOf(redis)));
}

/** Rejects while a repartition is in progress. Called at the start of every node. */
export async function refuseDuringRepartition(redis: RedisConnection): Promise<void> {
  const repartition = await repartitionInProgress(redis);
  if (repartition === undefined) return;
  const { from, to } = repartition;
  throw new Error(
    `a repartition from ${from} to ${to} partitions is in progress: wait for ` +
      `"fenceline repartition --partitions ${to}", or run it again if it was interrupted`,
  );
}
