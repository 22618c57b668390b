/** Runs Lua scripts, for atomic conditional changes. They are sent as EVALSHA, and as EVAL to servers without them. */
import { createHash } from 'node:crypto';
import type { RedisConnection } from './connection.js';
import { type Argument, EncodedCommand } from './encoded-command.js';

/** A Lua script and the SHA-1 by which Redis remembers it, as 40 hex digits. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** Returns a script with the hash by which servers know it. */
export const createScript = (lua: string): Script => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

/** Runs the script once. `keys` are all keys that it uses, with one hash tag. Texts in the reply are buffers. */
export async function runScript(
  { client }: RedisConnection,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  const run = (name: string, source: string) =>
    client.sendCommand(new EncodedCommand(name, [source, '1', keys[0]!], [[source, String(keys.length)], keys, args]));
  try {
    return await run('evalsha', sha);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return await run('eval', lua);
  }
}
