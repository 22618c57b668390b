/** ExpiringValues in Redis: a string per key, which expires by itself. */
import type { ExpiringValues } from '../../../pipeline/ports.js';
import { checkExpiring, checkExpiringKey, checkIncrement } from '../../expiring-values.js';
import type { RedisConnection } from './connection.js';
import { createScript, runScript } from './scripts.js';

/**
 * Arguments: value, time to live in ms, condition (`any`, `absent`, `equal`), expected value. A repetition finds its
 * own value, and succeeds.
 */
const putScript = createScript(`
local condition = ARGV[3]
if condition ~= 'any' then
  local current = redis.call('GET', KEYS[1])
  local is_expected = condition == 'absent' and not current or condition == 'equal' and current == ARGV[4]
  if not is_expected and current ~= ARGV[1] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** Arguments: time to live in ms, amount. */
const incrementScript = createScript(`
local count = redis.call('INCRBY', KEYS[1], ARGV[2])
if count == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count
`);

/** Argument: expected value. */
const deleteScript = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

/** Creates the store on a connection that the caller opens and closes. Commands are retried for a minute. */
export function createRedisExpiringValues(redis: RedisConnection): ExpiringValues {
  const { client, options, withRetries } = redis;
  const keyOf = (key: string): string => {
    checkExpiringKey(key);
    return `${options.prefix}value.${key}`;
  };
  return {
    async get(key) {
      const storedKey = keyOf(key);
      return (await withRetries(() => client.get(storedKey))) ?? undefined;
    },
    async put(key, value, ttlMs, condition) {
      checkExpiring(key, value, ttlMs);
      const kind = condition === undefined ? 'any' : condition.current === null ? 'absent' : 'equal';
      const args = [value, `${ttlMs}`, kind, condition?.current ?? ''];
      return (await withRetries(() => runScript(redis, putScript, [keyOf(key)], args))) === 1;
    },
    async increment(key, ttlMs, amount = 1) {
      checkIncrement(key, ttlMs, amount);
      const args = [`${ttlMs}`, `${amount}`];
      return (await withRetries(() => runScript(redis, incrementScript, [keyOf(key)], args))) as number;
    },
    async delete(key, condition) {
      const storedKey = keyOf(key);
      await withRetries(() =>
        condition === undefined
          ? client.del(storedKey)
          : runScript(redis, deleteScript, [storedKey], [condition.current]),
      );
    },
  };
}
