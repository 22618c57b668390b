/** Seeded random numbers for the demo, tests and benchmarks: a run can be repeated with its seed. */

/** A stream of pseudo-random numbers: the same seed always gives the same stream. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform in [low, high). */
  between(low: number, high: number): number;
  /** A uniform integer in [low, high]. */
  integer(low: number, high: number): number;
  /** Returns one of the items with equal probability. Throws on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** Normally distributed with mean 0 and standard deviation 1. */
  normal(): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

/** Makes a Mulberry32 generator: 32 bits of state, good enough for simulation, but not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (low: number, high: number) => low + (high - low) * next();
  const integer = (low: number, high: number) => Math.floor(between(low, high + 1));
  return {
    next,
    between,
    integer,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('the list is empty');
      return items[integer(0, items.length - 1)] as T;
    },
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    chance: (probability) => next() < probability,
  };
}
