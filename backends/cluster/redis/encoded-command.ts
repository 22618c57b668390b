/**
 * Encodes commands with thousands of arguments, which are common here. ioredis inspects each argument several times;
 * this encoder writes each once, into one buffer.
 */
import { Command } from 'ioredis';

/** Numbers are sent as decimal text. */
export type Argument = string | Buffer;

/** The command `name` with the arguments of all lists. Texts of its reply are buffers. */
export class EncodedCommand extends Command {
  readonly #lists: readonly (readonly Argument[])[];

  /** ioredis sees only the arguments in `shown`, from which it finds the node by the first key. */
  constructor(name: string, shown: string[], lists: readonly (readonly Argument[])[]) {
    super(name, shown, { replyEncoding: null });
    this.#lists = lists;
  }

  override toWritable(): Buffer {
    return encodeCommand([[this.name], ...this.#lists]);
  }
}

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const star = 0x2a;
const dollar = 0x24;
/** `$`, a length, and two line ends. */
const maxFrameBytes = 16;
const maxUtf8BytesPerUnit = 3;

/** Encodes the arguments of all lists as one command in the Redis protocol. */
export function encodeCommand(lists: readonly (readonly Argument[])[]): Buffer {
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

function writeArgument(target: Buffer, start: number, argument: Argument): number {
  let position = writeLength(target, start, dollar, argument.length);
  if (typeof argument !== 'string') {
    target.set(argument, position);
    position += argument.length;
  } else {
    const bytes = target.write(argument, position);
    // Most texts are ASCII, so the length is usually correct already.
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
