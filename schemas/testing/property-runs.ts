/**
 * How many random cases a property tries.
 *
 * With the usual seed it tries a third of them: they are the same in every run, and more of them find nothing new. With
 * any other seed it tries all. A campaign (`npm run test:faults`) has another seed in each round.
 */

const share = process.env.PROPERTY_SEED === '1' ? 1 / 3 : 1;

/** Returns the cases of this run, given all of them. */
export const propertyRuns = (all: number): number => Math.ceil(all * share);
