/** A few at once; a few wait; more are refused. */
import { ApiError } from '../../schemas/errors.js';

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Work past `maxWaiting` is refused as `overloaded`, to come back in `retryAfterS`. */
export function createTurns(maxAtOnce: number, maxWaiting: number, retryAfterS: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function myTurn(): Promise<void> {
    if (running < maxAtOnce) {
      running += 1;
      return;
    }
    if (waiting.length >= maxWaiting) throw new ApiError('overloaded', 'too many questions wait', { retryAfterS });
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** Who goes next takes over the place of who is done. */
  function done(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (work) => {
    await myTurn();
    try {
      return await work();
    } finally {
      done();
    }
  };
}
