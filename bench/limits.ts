/** Settings that remove all rate limits, because a bench measures the pipeline. */
import { settings } from '../server/config/settings.js';

/** Environment variables that switch off every setting `limits.*`. */
export const withoutLimits: Readonly<Record<string, string>> = Object.fromEntries(
  settings.filter(({ key }) => key.startsWith('limits.')).map(({ variable }) => [variable, '0']),
);
