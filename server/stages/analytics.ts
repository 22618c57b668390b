/** Starts the analytics sink on a backend, with the configured limits. Problems go to the log. */
import type { Analytics, Log, Positions, Subscription } from '../../pipeline/ports.js';
import { createAnalyticsSink } from '../../pipeline/stages/analytics/sink.js';
import { levelOf } from '../logger.js';
import { maxDeadLetterShareOf, type StageContext } from './context.js';

interface AnalyticsParts {
  readonly log: Log;
  readonly positions: Positions;
  /** The tables must exist. */
  readonly analytics: Analytics;
}

/** Starts the sink, which the caller closes. */
export const startAnalyticsSink = (
  { log, positions, analytics }: AnalyticsParts,
  { configuration, logger, metrics }: StageContext,
): Subscription =>
  createAnalyticsSink({
    log,
    positions,
    analytics,
    metrics,
    clock: Date.now,
    onAlert: (alert) => logger[levelOf(alert)](alert, 'analytics'),
    bounds: {
      maxRows: configuration.analytics.maxBatchRows,
      maxDelayMs: configuration.analytics.flushIntervalMs,
      maxDeadLetterShare: maxDeadLetterShareOf(configuration),
    },
  });
