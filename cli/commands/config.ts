/** `fenceline config`: checks and prints the settings. */
import { describeSettings } from '../../server/config/print.js';
import { refuseContradictions } from '../../server/contradictions.js';
import { unusableFiles } from '../../server/named-files.js';
import { printable } from '../../server/terminal-text.js';
import type { Run } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';

/** Prints every setting with its value and source. Throws for settings that contradict one another. */
export const run: Run<OptionsOf<'config'>> = async (values) => {
  const { configuration, settings } = configurationFrom(values);
  refuseContradictions(configuration);
  console.log(describeSettings(settings, values.explain === true));
  for (const { setting, problem } of unusableFiles(configuration)) console.error(printable(`${setting}: ${problem}`));
};
