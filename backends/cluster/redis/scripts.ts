/**
 * Lua scripts: what must happen at once and on a condition. Sent as EVALSHA, and with its text where the server doesn't
 * know it yet.
 */
import { createHash } from 'node:crypto';
import type { RedisConnection } from './connection.js';
import { type Argument, EncodedCommand } from './encoded-command.js';

export type ScriptArgument = Argument;

export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const createScript = (lua: string): Script => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

/**
 * Runs the script once. Every key that it touches must be given, all of them with one hash tag. Texts in the answer are
 * buffers.
 */
export async function runScript(
  { client }: RedisConnection,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly ScriptArgument[],
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
