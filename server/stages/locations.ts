/** Starts the location stage on a backend, with the configured limits. Problems go to the log. */
import type { Subscription } from '../../pipeline/ports.js';
import { createLocationStage, type LocationStageParts } from '../../pipeline/stages/locations/stage.js';
import { levelOf } from '../logger.js';
import { maxDeadLetterShareOf, type StageContext } from './context.js';

type LocationParts = Pick<
  LocationStageParts,
  'log' | 'states' | 'catalog' | 'catchUp' | 'replies' | 'searchGeofences' | 'observeCache' | 'tracing'
>;

/** Starts the stage, which the caller closes. */
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
