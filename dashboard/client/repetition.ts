/**
 * Recognises a change that is sent again because it had no answer. It has the same Idempotency-Key then, so that the
 * server does it once, and answers as it would have answered the first time.
 */
import { Unreachable } from './unreachable';

interface Attempt {
  readonly key: string;
  readonly endsMs: number;
}

/** For as long the server keeps every answer. Later the same request is a new one. */
const keptMs = 10 * 60_000;
const keyBytes = 16;

/** Changes without an answer, by all that they say. */
const unanswered = new Map<string, Attempt>();

/** Pages without HTTPS have no `crypto.randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(keyBytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');

function earlierKey(name: string): string | undefined {
  const earlier = unanswered.get(name);
  return earlier !== undefined && earlier.endsMs > Date.now() ? earlier.key : undefined;
}

/** Returns whether the change of this name was sent before and had no answer. */
export const wasUnanswered = (name: string): boolean => earlierKey(name) !== undefined;

/** Forgets what had no answer: after another change, the same request may mean something else. */
export const forgetUnanswered = (): void => unanswered.clear();

/**
 * Sends a change under a key of its own, or under the key of the same change that had no answer.
 * @param name says all that the change does.
 */
export async function once<Result>(name: string, send: (key: string) => Promise<Result>): Promise<Result> {
  const key = earlierKey(name) ?? newKey();
  try {
    const result = await send(key);
    forgetUnanswered();
    return result;
  } catch (error) {
    if (error instanceof Unreachable) unanswered.set(name, { key, endsMs: Date.now() + keptMs });
    throw error;
  }
}
