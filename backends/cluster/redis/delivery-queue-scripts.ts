/**
 * The Lua scripts of the delivery queue. Scripts that remove deliveries also run when Redis is out of memory, so that
 * the queue can drain. Scripts that add deliveries don't.
 *
 * The first key is the source's `meta`. Scripts that change deliveries take `webhooks` as second key, then the `places`
 * and `values` of each webhook. Arguments refer to a webhook by its number among these, from 1. Such scripts return the
 * source's number of changes, or 0 for `fenced`.
 *
 * A script must not use a key after it has removed its last member. While the slot moves, Redis refuses a key that does
 * not exist, and keeps what the script has done before.
 */
import { createScript } from './scripts.js';

/**
 * Returns token, offset, sequence, mark and changes. The token is the time in microseconds, or the last one plus 1. So
 * two claims never have the same token, even if Redis lost the first one.
 */
export const claimScript = createScript(`#!lua flags=allow-oom
local now = redis.call('TIME')
local last = tonumber(redis.call('HGET', KEYS[1], 'token') or 0)
local token = string.format('%d', math.max(last + 1, now[1] * 1000000 + now[2]))
redis.call('HSET', KEYS[1], 'token', token)
redis.call('HSETNX', KEYS[1], 'offset', 0)
redis.call('HSETNX', KEYS[1], 'sequence', 0)
return redis.call('HMGET', KEYS[1], 'token', 'offset', 'sequence', 'mark', 'changes')
`);

/**
 * Arguments: id of the batch, token, expected offset, next offset, mark, known changes; then webhook, time due and
 * value per delivery.
 */
export const addScript = createScript(`#!lua
local meta = redis.call('HMGET', KEYS[1], 'token', 'offset', 'sequence', 'added', 'changes')
local token, offset, sequence, added, changes = unpack(meta)
if added == ARGV[1] then return tonumber(changes) end
if token ~= ARGV[2] or offset ~= ARGV[3] or tonumber(changes or 0) < tonumber(ARGV[6]) then return 0 end
local number = tonumber(sequence)
for i = 7, #ARGV, 3 do
  local webhook = 2 * ARGV[i]
  local sequence = struct.pack('>d', number)
  redis.call('ZADD', KEYS[webhook + 1], '0', ARGV[i + 1] .. sequence .. '\\0\\0\\0\\0')
  redis.call('HSET', KEYS[webhook + 2], sequence, ARGV[i + 2])
  number = number + 1
end
for i = 3, #KEYS, 2 do redis.call('ZADD', KEYS[2], '0', string.sub(KEYS[i], -24)) end
local count = (#ARGV - 6) / 3
redis.call('HINCRBY', KEYS[1], 'sequence', count)
redis.call('HINCRBY', KEYS[1], 'size', count)
redis.call('HSET', KEYS[1], 'offset', ARGV[4], 'mark', ARGV[5], 'added', ARGV[1])
return redis.call('HINCRBY', KEYS[1], 'changes', 1)
`);

/**
 * The start of a script that returns 0 when the source has another owner, or is behind the state that its owner knows
 * because Redis lost the latest changes.
 */
const unlessFenced = `local owner = redis.call('HMGET', KEYS[1], 'token', 'offset', 'changes')
if owner[1] ~= ARGV[1] or tonumber(owner[2]) < tonumber(ARGV[2]) then return 0 end
if tonumber(owner[3] or 0) < tonumber(ARGV[3]) then return 0 end`;

/** The bounds of the member of a place, with any number of attempts. */
const placeRange = `'[' .. place, '[' .. place .. '\\255\\255\\255\\255'`;

/**
 * Arguments: token, known offset, known changes; then webhook, place, and new member, or an empty text to remove it,
 * per settlement.
 */
export const settleScript = createScript(`#!lua flags=allow-oom
${unlessFenced}
local left, gone = {}, 0
for i = 3, #KEYS, 2 do left[i] = redis.call('ZCARD', KEYS[i]) end
for i = 4, #ARGV, 3 do
  local at, place, again = 2 * ARGV[i] + 1, ARGV[i + 1], ARGV[i + 2]
  local found = left[at] > 0 and redis.call('ZRANGE', KEYS[at], ${placeRange}, 'BYLEX')[1]
  if found and again == '' then
    redis.call('ZREM', KEYS[at], found)
    redis.call('HDEL', KEYS[at + 1], string.sub(place, 9))
    left[at] = left[at] - 1
    gone = gone + 1
  elseif found and found ~= again then
    redis.call('ZADD', KEYS[at], '0', again)
    redis.call('ZREM', KEYS[at], found)
  end
end
local empty = {}
for i = 3, #KEYS, 2 do
  if left[i] == 0 then empty[#empty + 1] = string.sub(KEYS[i], -24) end
end
if #empty > 0 then redis.call('ZREM', KEYS[2], unpack(empty)) end
redis.call('HINCRBY', KEYS[1], 'size', 0 - gone)
return redis.call('HINCRBY', KEYS[1], 'changes', 1)
`);

/**
 * Removes all deliveries of one webhook. Arguments: token, known offset, known changes, id of the drop. Redis frees the
 * memory in the background.
 */
export const dropScript = createScript(`#!lua flags=allow-oom
${unlessFenced}
local dropped, changes = unpack(redis.call('HMGET', KEYS[1], 'dropped', 'changes'))
if dropped == ARGV[4] then return tonumber(changes) end
redis.call('HINCRBY', KEYS[1], 'size', 0 - redis.call('ZCARD', KEYS[3]))
redis.call('HSET', KEYS[1], 'dropped', ARGV[4])
redis.call('UNLINK', KEYS[3], KEYS[4])
redis.call('ZREM', KEYS[2], string.sub(KEYS[3], -24))
return redis.call('HINCRBY', KEYS[1], 'changes', 1)
`);

/**
 * Removes deliveries of one webhook, whoever owns the source. Arguments: places. A repetition finds none of them.
 */
export const eraseScript = createScript(`#!lua flags=allow-oom
local left, gone = redis.call('ZCARD', KEYS[3]), 0
for i = 1, #ARGV do
  local place = ARGV[i]
  if gone < left and redis.call('ZREMRANGEBYLEX', KEYS[3], ${placeRange}) == 1 then
    redis.call('HDEL', KEYS[4], string.sub(place, 9))
    gone = gone + 1
  end
end
if gone == left then redis.call('ZREM', KEYS[2], string.sub(KEYS[3], -24)) end
redis.call('HINCRBY', KEYS[1], 'size', 0 - gone)
return gone
`);

/**
 * Keys: a webhook's `places` and `values`. Arguments: lower bound, limit of deliveries, and number of bytes after which
 * to stop. Returns the number of members found, and the first of them: member, value, member, value…
 */
export const waitingScript = createScript(`#!lua flags=no-writes
local members = redis.call('ZRANGE', KEYS[1], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
local page, bytes = {}, 0
for i, member in ipairs(members) do
  local value = redis.call('HGET', KEYS[2], string.sub(member, 9, 16))
  page[2 * i - 1], page[2 * i] = member, value
  bytes = bytes + #value
  if bytes >= tonumber(ARGV[3]) then break end
end
return {#members, page}
`);

/** Keys: the `places` of webhooks. Returns the first member of each, empty where there is none. */
export const firstsScript = createScript(`#!lua flags=no-writes
local firsts = {}
for i = 1, #KEYS do firsts[i] = redis.call('ZRANGE', KEYS[i], 0, 0)[1] or '' end
return firsts
`);
