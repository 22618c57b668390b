/**
 * The keys of device states in Redis, and the scripts that change them.
 *
 * All keys of a partition share a hash tag, so that one server has them and loses them together:
 *
 * - a hash `…meta`: `token` (number of claims), `owner` (id of the last claim), `offset` of the next record to apply,
 *   `mark` of a record before it (`pipeline/positions.ts`), and `commit` (id of the last commit);
 * - a string `…outbox` (`outbox.ts`), absent when nothing is to be published;
 * - a string `…device:KEY` per device with its encoded state, which expires.
 */
import { createScript } from './scripts.js';

interface PartitionKeys {
  readonly meta: string;
  readonly outbox: string;
  /** Prefix of a device's key. */
  readonly device: string;
}

/** Returns the keys of a partition; `device` is a prefix. */
export function partitionKeys(prefix: string, partition: number): PartitionKeys {
  const stem = `${prefix}{state.${partition}}.`;
  return { meta: `${stem}meta`, outbox: `${stem}outbox`, device: `${stem}device:` };
}

/**
 * Keys: meta, outbox. Arguments: id of the claim. Returns token, offset, id of the last commit, outbox and mark.
 * Repeating it is one claim whose token has increased by two.
 */
export const claimScript = createScript(`
local token = redis.call('HINCRBY', KEYS[1], 'token', 1)
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
local offset, commit, mark = unpack(redis.call('HMGET', KEYS[1], 'offset', 'commit', 'mark'))
return { token, offset, commit, redis.call('GET', KEYS[2]), mark }
`);

/**
 * Keys: meta, outbox, devices to set, devices to delete. Arguments: id of the claim, id of the commit, expected offset,
 * next offset, ms until a device expires or 0, outbox, mark, then the state of each device to set. Returns 1 when
 * everything is written, otherwise 0. A repetition returns 1 too, because it recognises its own commit. It returns 0
 * when another owner has committed in between, which started where this commit ended.
 */
export const commitScript = createScript(`
local call, keys, args = redis.call, KEYS, ARGV
local held = call('HMGET', keys[1], 'owner', 'offset', 'commit')
if held[3] == args[2] then return 1 end
if held[1] ~= args[1] or (held[2] or '0') ~= args[3] then return 0 end
call('HSET', keys[1], 'offset', args[4], 'commit', args[2], 'mark', args[7])
if args[6] == '' then call('DEL', keys[2]) else call('SET', keys[2], args[6]) end
local expiry, states = args[5], #args - 7
if expiry == '0' then
  for i = 1, states do call('SET', keys[i + 2], args[i + 7]) end
else
  for i = 1, states do call('SET', keys[i + 2], args[i + 7], 'PX', expiry) end
end
for i = states + 3, #keys do call('DEL', keys[i]) end
return 1
`);

/**
 * Keys: meta, outbox. Arguments: id of the commit that filled the outbox. Deletes the outbox if it is of that commit.
 */
export const publishedScript = createScript(`
if redis.call('HGET', KEYS[1], 'commit') == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1
`);
