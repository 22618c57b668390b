/** `fenceline demo`. */
import { demo } from '../../demo/demo.js';
import type { Run } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { wholeNumber } from '../numbers.js';
import { outputLost } from '../output.js';

/** What one process can drive. Timers of Node are at most 24 days long. */
const maxima = { seconds: 2_000_000, devices: 100_000, rate: 10_000 } as const;
const names = ['seconds', 'devices', 'rate'] as const;

/**
 * Starts a node in a temporary folder and drives a fleet through its city for the given time, or until it is
 * interrupted.
 */
export const run: Run<OptionsOf<'demo'>> = async (values) => {
  const numbers = names.flatMap((name): [string, number][] => {
    const text = values[name];
    return text === undefined ? [] : [[name, wholeNumber(name, text, { least: 1, most: maxima[name] })]];
  });
  await demo(Object.fromEntries(numbers), outputLost);
};
