/**
 * Devices' states in Redis, from the keys of the partitions that they were in to those of the partitions that they belong to.
 *
 * A state is written under its new key before the old one goes, and never over one that is there: whoever is ended in the middle begins again, and all ends
 * the same. Who calls makes sure that nobody else writes states.
 */
import type { Redis } from 'ioredis';
import { partitionOfKey } from '../kafka/partitioner.js';
import { mastersOf } from '../redis/client.js';
import type { RedisConnection } from '../redis/connection.js';
import { partitionKeys } from '../redis/state-scripts.js';

/** Keys that a server is asked for at once, and states that are in hand, of each server. */
const batchKeys = 1_000;

interface Move {
  readonly oldKey: string;
  readonly newKey: string;
}

/** Resolves to how many were moved. `onMoved` hears of every batch. */
export async function moveStates(
  redis: RedisConnection,
  partitions: number,
  onMoved: (states: number) => void = () => {},
): Promise<number> {
  let moved = 0;
  // A server that took over from another lists its keys in another order, so one pass may miss some: the last must find none.
  for (let found = -1; found !== 0; moved += found) {
    const passes = mastersOf(redis.client).map((master) => moveFrom(master, redis, partitions, onMoved));
    found = (await Promise.all(passes)).reduce((sum, each) => sum + each, 0);
  }
  return moved;
}

async function moveFrom(
  master: Redis,
  redis: RedisConnection,
  partitions: number,
  onMoved: (states: number) => void,
): Promise<number> {
  const { prefix } = redis.options;
  const pattern = `${asPattern(prefix)}{state.*}.device:*`;
  let moved = 0;
  let cursor = '0';
  do {
    const from = cursor;
    const [next, keys] = await redis.withRetries(() => master.scan(from, 'MATCH', pattern, 'COUNT', batchKeys));
    const moves = keys.flatMap((key) => moveOf(key, prefix, partitions) ?? []);
    const done = await redis.withRetries(() => Promise.all(moves.map((move) => moveState(redis, move))));
    const count = done.filter(Boolean).length;
    if (count > 0) onMoved(count);
    moved += count;
    cursor = next;
  } while (cursor !== '0');
  return moved;
}

/** Undefined for a key that is where it belongs, or is no device's. */
function moveOf(oldKey: string, prefix: string, partitions: number): Move | undefined {
  const [, partition, device] = /^\{state\.(\d+)\}\.device:(.*)$/s.exec(oldKey.slice(prefix.length)) ?? [];
  if (device === undefined) return undefined;
  const newPartition = partitionOfKey(device, partitions);
  return newPartition === Number(partition) ? undefined : { oldKey, newKey: partitionKeys(prefix, newPartition).device + device };
}

/** False when there is nothing to move: the state expired meanwhile, or is that of a try before. */
async function moveState({ client }: RedisConnection, { oldKey, newKey }: Move): Promise<boolean> {
  const [state, expiryMs] = await Promise.all([client.getBuffer(oldKey), client.pttl(oldKey)]);
  if (state === null || expiryMs === -2) return false;
  if (expiryMs === -1) await client.set(newKey, state, 'NX');
  else await client.set(newKey, state, 'PX', Math.max(1, expiryMs), 'NX');
  await client.del(oldKey);
  return true;
}

/** What matches the text itself, in the patterns of Redis. */
const asPattern = (text: string): string => text.replaceAll(/[\\*?[\]^]/g, '\\$&');
