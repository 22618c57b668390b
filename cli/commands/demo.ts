/** `fenceline demo`. */
import { demo } from '../../demo/demo.js';
import { type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { outputLost } from '../output.js';

export const run: Run<OptionsOf<'demo'>> = async (values) => {
  const numbers = Object.entries(values).map(([name, text]): [string, number] => {
    const value = Number(text);
    if (!Number.isInteger(value) || value <= 0) throw new UsageError(`--${name} must be a whole number above 0`);
    return [name, value];
  });
  await demo(Object.fromEntries(numbers), outputLost);
};
