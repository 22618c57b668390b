/** Classifies errors of commands. */
import { ReplyError } from 'ioredis';

/** First words of error replies that mean: not now, or not on this node. */
const passingReplies = new Set([
  'ASK',
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
]);

/** Names of errors of ioredis that mean: no connection, or no reply in time. They have no codes. */
const passingNames = new Set(['Error', 'AbortError', 'ClusterAllFailedError', 'MaxRetriesPerRequestError']);

/**
 * First words of error replies that every process gets: Redis runs a long script, starts, can't write to its disk, has
 * too few replicas, has no memory left, or moves the keys of a command.
 */
const repliesForAll = new Set(['BUSY', 'LOADING', 'MISCONF', 'NOREPLICAS', 'OOM', 'TRYAGAIN']);

const passingCodes = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

const firstWord = ({ message }: Error): string => message.split(' ', 1)[0]!;

/** Returns whether Redis answers that it serves nobody at the moment, so that another process would fare no better. */
export const isForAll = (error: unknown): boolean =>
  error instanceof ReplyError && repliesForAll.has(firstWord(error as Error));

/** Returns whether another attempt may succeed: Redis is out of reach, starting, moving the keys, or out of memory. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReplyError) return passingReplies.has(firstWord(error));
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? passingNames.has(error.name) : passingCodes.has(code);
}

/** Returns the reply to a command, or undefined when Redis can't answer at the moment. */
export async function unlessUnavailable<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw withoutArguments(error);
  }
}

/** Removes the command that ioredis attaches to errors: its arguments are passwords, keys and values. */
export function withoutArguments(error: unknown): unknown {
  if (error instanceof Error) delete (error as { command?: unknown }).command;
  return error;
}
