import { parseArgs } from 'node:util';
import { describeSettings } from '../../server/config/print.js';
import type { Command } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

export const configCommand: Command = {
  usage: 'config [--explain] [--config FILE] [--port N] [--host ADDRESS] [--data DIR]',
  summary: 'Prints what is in force and where each value came from; with --explain, the effect of each setting.',
  async run(args) {
    const { values } = parseArgs({
      args,
      options: { ...configurationOptions, explain: { type: 'boolean', default: false } },
    });
    const { settings } = configurationOrExit(values);
    console.log(describeSettings(settings, values.explain));
  },
};
