/** Repeats requests that failed for a passing reason. For each attempt, the caller says what its failure means. */

/** A failed attempt, and what follows from it. */
export interface Failure {
  readonly error: Error;
  /** Whether the same request may succeed later, and may be sent again. */
  readonly isPassing: boolean;
  /** What the server asks for, if it does. */
  readonly retryAfterMs: number | undefined;
}

/** The answer, or why there is none after one attempt. */
export type Outcome<Answer> = { readonly ok: true; readonly answer: Answer } | ({ readonly ok: false } & Failure);

const firstDelayMs = 250;
const maxDelayMs = 10_000;
/** A server that asks for more patience gets an error to the caller instead. */
const maxRetryAfterMs = 60_000;
const passingStatuses = new Set([408, 429, 500, 502, 503, 504]);

/** Attempts until one succeeds. Rejects with the error of the last one, or with the reason of the signal. */
export async function repeat<Answer>(
  attempt: () => Promise<Outcome<Answer>>,
  maxRetries: number,
  signal?: AbortSignal,
): Promise<Answer> {
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    const outcome = await attempt();
    if (outcome.ok) return outcome.answer;
    const delayMs = outcome.retryAfterMs ?? delayAfter(attempts);
    if (!outcome.isPassing || attempts > maxRetries || delayMs > maxRetryAfterMs) throw outcome.error;
    await sleep(delayMs, signal);
  }
}

/** Returns whether the same request may succeed later: after overload, a time limit or trouble of a server or proxy. */
export const isPassingStatus = (status: number): boolean => passingStatuses.has(status);

/** Returns how long the server asks to wait; undefined if it does not. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return seconds >= 0 ? seconds * 1_000 : undefined;
}

/**
 * Returns why a request got no answer. `fetch` says only that it failed, and the reason is in the cause. If a name has
 * several addresses, the cause has no message.
 */
export function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: string; readonly message?: string } };
  return cause?.message || cause?.code || (error as Error).message;
}

/** Returns a delay that grows with the attempts. Half of it is random, so that clients do not return together. */
export const delayAfter = (attempts: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);

/** Waits. Rejects with the signal's reason when it aborts. */
export const sleep = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
