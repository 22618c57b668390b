/**
 * Moves device states in Redis from the keys of their old partitions to those of their new ones.
 *
 * A state is written under its new key before the old key is deleted, and never over an existing state. So an
 * interrupted move can be repeated. The caller makes sure that nobody else writes states.
 */
import type { Redis } from 'ioredis';
import { groupedBy } from '../../../schemas/groups.js';
import { partitionOfKey } from '../kafka/produce/partitioner.js';
import { mastersOf } from '../redis/client.js';
import type { RedisConnection } from '../redis/connection.js';
import type { Argument } from '../redis/encoded-command.js';
import { createScript, runScript } from '../redis/scripts.js';
import { partitionKeys } from '../redis/state-scripts.js';

/** Keys that are scanned, and states that are in memory, at once per server. */
const batchKeys = 5_000;

/** Keys: devices of one partition. Returns each state and the ms until it expires: -1 for never, -2 for no state. */
const readScript = createScript(`
local answer = {}
for i = 1, #KEYS do
  answer[2 * i - 1] = redis.call('GET', KEYS[i])
  answer[2 * i] = redis.call('PTTL', KEYS[i])
end
return answer
`);

/** Keys: devices of one partition. Arguments: each state and the ms until it expires, or -1. Keeps existing states. */
const writeScript = createScript(`
for i = 1, #KEYS do
  local state, expiry = ARGV[2 * i - 1], ARGV[2 * i]
  if expiry == '-1' then
    redis.call('SET', KEYS[i], state, 'NX')
  else
    redis.call('SET', KEYS[i], state, 'NX', 'PX', expiry)
  end
end
return 1
`);

/** Keys: devices of one partition. */
const deleteScript = createScript("for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end return 1");

interface Move {
  readonly device: string;
  readonly from: number;
  readonly to: number;
}

interface State {
  readonly move: Move;
  readonly state: Buffer;
  readonly expiryMs: number;
}

/** Returns the number of moved states. Calls `onMoved` after every batch. */
export async function moveStates(
  redis: RedisConnection,
  partitions: number,
  onMoved: (states: number) => void = () => {},
): Promise<number> {
  let moved = 0;
  // After a failover a server lists its keys in another order, so a pass may miss some. The last pass must find none.
  for (let found = -1; found !== 0; ) {
    const passes = mastersOf(redis.client).map((master) => moveFrom(master, redis, partitions, onMoved));
    found = (await Promise.all(passes)).reduce((sum, each) => sum + each, 0);
    moved += found;
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
    const moves = keys.flatMap((key) => moveOf(key.slice(prefix.length), partitions) ?? []);
    const count = await redis.withRetries(() => moveBatch(redis, moves));
    if (count > 0) onMoved(count);
    moved += count;
    cursor = next;
  } while (cursor !== '0');
  return moved;
}

/** Returns undefined for a device in its partition, and for other keys. */
function moveOf(key: string, partitions: number): Move | undefined {
  const [, partition, device] = /^\{state\.(\d+)\}\.device:(.*)$/s.exec(key) ?? [];
  if (device === undefined) return undefined;
  const move: Move = { device, from: Number(partition), to: partitionOfKey(device, partitions) };
  return move.to === move.from ? undefined : move;
}

/** Returns how many had a state. Others have expired, or were moved by an earlier attempt. */
async function moveBatch(redis: RedisConnection, moves: readonly Move[]): Promise<number> {
  const { prefix } = redis.options;
  const nameOf = (partition: number, { device }: Move): string => partitionKeys(prefix, partition).device + device;

  const states = await eachPartition(
    moves,
    ({ from }) => from,
    async (group, from): Promise<State[]> => {
      const answer = await runScript(
        redis,
        readScript,
        group.map((move) => nameOf(from, move)),
        [],
      );
      return statesIn(answer as (Buffer | null | number)[], group);
    },
  );
  await eachPartition(
    states,
    ({ move }) => move.to,
    async (group, to) => {
      const args = group.flatMap(({ state, expiryMs }): Argument[] => [state, `${expiryMs}`]);
      await runScript(
        redis,
        writeScript,
        group.map(({ move }) => nameOf(to, move)),
        args,
      );
      return [];
    },
  );
  await eachPartition(
    states,
    ({ move }) => move.from,
    async (group, from) => {
      await runScript(
        redis,
        deleteScript,
        group.map(({ move }) => nameOf(from, move)),
        [],
      );
      return [];
    },
  );
  return states.length;
}

function statesIn(answer: readonly (Buffer | null | number)[], moves: readonly Move[]): State[] {
  return moves.flatMap((move, i) => {
    const state = answer[2 * i] as Buffer | null;
    const expiryMs = answer[2 * i + 1] as number;
    if (state === null || expiryMs === -2) return [];
    return [{ move, state, expiryMs: expiryMs === -1 ? -1 : Math.max(1, expiryMs) }];
  });
}

/** Runs `work` for the items of each partition concurrently, and returns all results. */
async function eachPartition<Item, Result>(
  items: readonly Item[],
  partitionOf: (item: Item) => number,
  work: (group: readonly Item[], partition: number) => Promise<Result[]>,
): Promise<Result[]> {
  const groups = groupedBy(items, partitionOf);
  return (await Promise.all([...groups].map(([partition, group]) => work(group, partition)))).flat();
}

/** Escapes the text for a Redis pattern. */
const asPattern = (text: string): string => text.replaceAll(/[\\*?[\]^]/g, '\\$&');
