import { parseArgs } from 'node:util';
import { demo } from '../../demo/demo.js';
import { type Command, UsageError } from '../command.js';

export const demoCommand: Command = {
  usage: 'demo [--seconds N] [--devices N] [--rate N]',
  summary:
    'Starts on a temporary folder, drives a fleet through a city and prints its events until Ctrl-C, or for N seconds.',
  async run(args) {
    const options = { seconds: { type: 'string' }, devices: { type: 'string' }, rate: { type: 'string' } } as const;
    const { values } = parseArgs({ args, options });
    const numbers = Object.entries(values).map(([name, text]): [string, number] => {
      const value = Number(text);
      if (!Number.isInteger(value) || value <= 0) throw new UsageError(`--${name} must be a whole number above 0`);
      return [name, value];
    });
    await demo(Object.fromEntries(numbers));
  },
};
