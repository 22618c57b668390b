/** Stands in for the analytics engine of an embedded node without the optional package chdb. */
import type { Analytics } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';
import type { AnalyticsSnapshots } from './threads/analytics-worker.js';

/** What errors and the log say when the optional analytics engine is missing. */
export const notInstalled =
  'the optional package chdb, the analytics engine, is not installed; install it with "npm install chdb", ' +
  'or use the image whose tag ends with -analytics, and restart';

const refuse = async (): Promise<never> => {
  throw new ApiError('not_available', notInstalled);
};

/** Refuses every query, and has no tables. What it would store stays on its topics, until they forget it. */
export const missingAnalytics: Pick<Analytics, 'query' | 'file' | 'command'> & AnalyticsSnapshots = {
  query: refuse,
  file: refuse,
  command: refuse,
  freeze: async () => [],
  unfreeze: async () => {},
};
