/** Turns for long work between other work of the event loop. */
import { setImmediate } from 'node:timers/promises';

/** Characters of JSON that one turn makes or parses, in about two milliseconds. Most answers are shorter. */
export const charactersPerTurn = 131_072;

/**
 * Creates a function that a long search awaits between two parts of its work. One of the searches that wait continues
 * in each turn of the event loop, so that any number of them delays other work by one part only. Rejects with the
 * reason of the signal if it has aborted by then.
 */
export function createTurns(): (signal?: AbortSignal) => Promise<void> {
  let turns: Promise<void> = Promise.resolve();
  return async (signal) => {
    turns = turns.then(() => setImmediate());
    await turns;
    signal?.throwIfAborted();
  };
}
