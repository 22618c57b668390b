/**
 * Starts the location stage and the analytics sink on a backend, with the configured limits. Problems go to the log.
 */
import type { Logger } from 'pino';
import type { Analytics, Log, Positions, Subscription } from '../pipeline/ports.js';
import { createAnalyticsSink } from '../pipeline/stages/analytics/sink.js';
import { createLocationStage, type LocationStageParts } from '../pipeline/stages/locations/stage.js';
import type { Metrics } from '../pipeline/stages/metrics.js';
import type { Configuration } from './config/schema.js';
import { levelOf } from './logger.js';

interface StageContext {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Converts the percentage into a share between 0 and 1. */
export const maxDeadLetterShareOf = ({ deadLetters }: Configuration): number => deadLetters.maxPercent / 100;

export type LocationParts = Pick<
  LocationStageParts,
  'log' | 'states' | 'catalog' | 'catchUp' | 'replies' | 'searchGeofences'
>;

export const startLocationStage = (
  parts: LocationParts,
  { configuration, logger, metrics }: StageContext,
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
  /** The tables must exist. */
  readonly analytics: Analytics;
}

export const startAnalyticsSink = (
  { log, positions, analytics }: AnalyticsParts,
  { configuration, logger, metrics }: StageContext,
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
