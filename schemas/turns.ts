/** Turns for long work between other work of the event loop. */
import { setImmediate } from 'node:timers/promises';

/**
 * Creates a function that a long search awaits between two parts of its work. One of the searches that wait continues
 * in each turn of the event loop, so that any number of them delays other work by one part only.
 */
export function createTurns(): () => Promise<void> {
  let turns: Promise<void> = Promise.resolve();
  return () => {
    turns = turns.then(() => setImmediate());
    return turns;
  };
}
