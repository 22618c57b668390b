/**
 * How a node starts the location stage and the analytics sink: on what a backend offers, with the operator's bounds,
 * its troubles in the log.
 */
import type { Logger } from 'pino';
import type { Analytics, Log, Positions, Subscription } from '../pipeline/ports.js';
import { createAnalyticsSink } from '../pipeline/stages/analytics/sink.js';
import { createLocationStage, type LocationStageParts } from '../pipeline/stages/locations/stage.js';
import type { Metrics } from '../pipeline/stages/metrics.js';
import type { Configuration } from './config/schema.js';
import { levelOf } from './logger.js';

interface EvaluationContext {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What a share of a hundred is, of one. */
export const maxDeadLetterShareOf = ({ deadLetters }: Configuration): number => deadLetters.maxPercent / 100;

export type LocationParts = Pick<
  LocationStageParts,
  'log' | 'states' | 'catalog' | 'catchUp' | 'replies' | 'searchGeofences'
>;

export const startLocationStage = (
  parts: LocationParts,
  { configuration, logger, metrics }: EvaluationContext,
): Subscription =>
  createLocationStage({
    ...parts,
    clock: Date.now,
    onAlert: (alert) => logger[levelOf(alert)](alert, 'location stage'),
    metrics,
    bounds: {
      maxBatchRecords: configuration.locations.maxBatchRecords,
      maxCachedDevices: configuration.locations.cachedDevices,
      maxDeadLetterShare: maxDeadLetterShareOf(configuration),
    },
  });

export interface AnalyticsParts {
  readonly log: Log;
  readonly positions: Positions;
  /** With its tables in it. */
  readonly analytics: Analytics;
}

export const startAnalyticsSink = (
  { log, positions, analytics }: AnalyticsParts,
  { configuration, logger, metrics }: EvaluationContext,
): Subscription =>
  createAnalyticsSink({
    ...{ log, positions, analytics, metrics },
    clock: Date.now,
    onHalted: (halted) => logger.error(halted, 'partition halted'),
    onDiverged: (message) => logger.error(message),
    bounds: {
      maxRows: configuration.analytics.maxBatchRows,
      maxDelayMs: configuration.analytics.flushIntervalMs,
      maxDeadLetterShare: maxDeadLetterShareOf(configuration),
    },
  });
