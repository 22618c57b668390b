/** `fenceline config`: prints the settings. */
import { describeSettings } from '../../server/config/print.js';
import type { Run } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';

export const run: Run<OptionsOf<'config'>> = async (values) => {
  const { settings } = configurationFrom(values);
  console.log(describeSettings(settings, values.explain === true));
};
