/** What an error of a command means. */
import { ReplyError } from 'ioredis';

/** First words of answers that say: not now, or not here. */
const passingAnswers = new Set([
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

/** Names of errors that say: no connection, or no answer in time. ioredis' own have no codes. */
const passingNames = new Set(['Error', 'AbortError', 'ClusterAllFailedError', 'MaxRetriesPerRequestError']);

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

/**
 * Whether another try may do better: Redis is away, is starting, is moving what was asked for, or can't take more for
 * now.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReplyError) return passingAnswers.has(error.message.split(' ', 1)[0]!);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? passingNames.has(error.name) : passingCodes.has(code);
}

/** Returns what the one command answers; undefined while another try may do better. */
export async function unlessAway<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw withoutArguments(error);
  }
}

/** ioredis hangs the command on the error, with its arguments: passwords, keys, values. They don't belong in a log. */
export function withoutArguments(error: unknown): unknown {
  if (error instanceof Error) delete (error as { command?: unknown }).command;
  return error;
}
