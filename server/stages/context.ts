/** What the stages of a node share: configuration, log and metrics. */
import type { Logger } from 'pino';
import type { Metrics } from '../../pipeline/stages/metrics.js';
import type { Configuration } from '../config/schema.js';

/** What every stage of a node gets from its process. */
export interface StageContext {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Converts the percentage into a share between 0 and 1. */
export const maxDeadLetterShareOf = ({ deadLetters }: Configuration): number => deadLetters.maxPercent / 100;
