/** Turns for long work between other work of the event loop. */
import { setImmediate } from 'node:timers/promises';

/** Characters of JSON that one turn makes or parses, in about two milliseconds. Most answers are shorter. */
export const charactersPerTurn = 131_072;

/** Resolves when the next part of long work may begin. Rejects with the reason of the signal if it has aborted. */
type NextTurn = (signal?: AbortSignal) => Promise<void>;

/**
 * Creates a function that a long search awaits between two parts of its work. One of the searches that wait continues
 * in each turn of the event loop, so that any number of them delays other work by one part only. Rejects with the
 * reason of the signal if it has aborted by then.
 */
export function createTurns(): NextTurn {
  let turns: Promise<void> = Promise.resolve();
  return async (signal) => {
    turns = turns.then(() => setImmediate());
    await turns;
    signal?.throwIfAborted();
  };
}

/** Work that yields after each of its steps. */
export type Steps<Result> = Generator<void, Result>;

/** Runs the steps, a few in each turn. Rejects with the reason of the signal when it aborts. */
export async function runInTurns<Result>(
  steps: Steps<Result>,
  nextTurn: NextTurn,
  stepsPerTurn: number,
  signal?: AbortSignal,
): Promise<Result> {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (count % stepsPerTurn === 0) await nextTurn(signal);
  }
}

/** Runs all steps at once. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
