/**
 * Lua scripts: what must happen at once and on a condition. Sent as EVALSHA, and with its text where the server doesn't know it yet.
 *
 * Commands of thousands of arguments are ordinary here. ioredis would look at each argument four times; here each is written into one
 * buffer once.
 */
import { createHash } from 'node:crypto';
import { Command } from 'ioredis';
import type { RedisConnection } from './connection.js';

/** A number goes as its decimal text. */
export type ScriptArgument = string | Buffer;

export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const createScript = (lua: string): Script => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

/** Runs the script once. Every key that it touches must be given, all of them with one hash tag. Texts in the answer are buffers. */
export async function runScript(
  { client }: RedisConnection,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  try {
    return await client.sendCommand(new ScriptCommand('evalsha', sha, keys, args));
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return await client.sendCommand(new ScriptCommand('eval', lua, keys, args));
  }
}

/** To ioredis it has one key, which is enough to find the node. */
class ScriptCommand extends Command {
  readonly #source: string;
  readonly #keys: readonly string[];
  readonly #args: readonly ScriptArgument[];

  constructor(name: string, source: string, keys: readonly string[], args: readonly ScriptArgument[]) {
    super(name, [source, '1', keys[0]!], { replyEncoding: null });
    this.#source = source;
    this.#keys = keys;
    this.#args = args;
  }

  override toWritable(): Buffer {
    return encodeCommand([[this.name, this.#source, String(this.#keys.length)], this.#keys, this.#args]);
  }
}

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const star = 0x2a;
const dollar = 0x24;
/** `$`, a length, and two line ends. */
const maxFrameBytes = 16;
const maxUtf8BytesPerUnit = 3;

/** The lists, one after the other, as one command in Redis' protocol. */
export function encodeCommand(lists: readonly (readonly ScriptArgument[])[]): Buffer {
  let count = 0;
  let capacity = maxFrameBytes;
  for (const list of lists) {
    count += list.length;
    for (const argument of list) {
      capacity += maxFrameBytes + argument.length * (typeof argument === 'string' ? maxUtf8BytesPerUnit : 1);
    }
  }
  const target = Buffer.allocUnsafeSlow(capacity);
  let position = writeLength(target, 0, star, count);
  for (const list of lists) {
    for (const argument of list) position = writeArgument(target, position, argument);
  }
  return target.subarray(0, position);
}

function writeArgument(target: Buffer, start: number, argument: ScriptArgument): number {
  let position = writeLength(target, start, dollar, argument.length);
  if (typeof argument !== 'string') {
    target.set(argument, position);
    position += argument.length;
  } else {
    const bytes = target.write(argument, position);
    // Nearly every text is ASCII: its length is known without being measured.
    if (bytes !== argument.length) {
      position = writeLength(target, start, dollar, bytes);
      target.write(argument, position);
    }
    position += bytes;
  }
  return writeLineEnd(target, position);
}

function writeLength(target: Buffer, start: number, mark: number, length: number): number {
  target[start] = mark;
  let digits = 1;
  for (let rest = length; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  let rest = length;
  for (let position = start + digits; position > start; position--) {
    target[position] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return writeLineEnd(target, start + 1 + digits);
}

function writeLineEnd(target: Buffer, position: number): number {
  target[position] = carriageReturn;
  target[position + 1] = lineFeed;
  return position + 2;
}
