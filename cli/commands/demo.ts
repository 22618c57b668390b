/** `fenceline demo`. */
import { demo } from '../../demo/demo.js';
import { type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { outputLost } from '../output.js';

/** What one process can drive. Timers of Node are at most 24 days long. */
const maxima = { seconds: 2_000_000, devices: 100_000, rate: 10_000 } as const;
const names = ['seconds', 'devices', 'rate'] as const;

export const run: Run<OptionsOf<'demo'>> = async (values) => {
  const numbers = names.flatMap((name): [string, number][] => {
    const text = values[name];
    return text === undefined ? [] : [[name, wholeNumber(name, text, maxima[name])]];
  });
  await demo(Object.fromEntries(numbers), outputLost);
};

function wholeNumber(name: string, text: string, maximum: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= maximum) return value;
  throw new UsageError(`--${name} must be a whole number from 1 to ${maximum}`);
}
