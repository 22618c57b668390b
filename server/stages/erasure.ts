/** Starts the eraser on a backend. Problems go to the log. */
import { topicRetentionMs } from '../../backends/topic-retention.js';
import { createEraser, type EraserParts } from '../../pipeline/stages/erasure/eraser.js';
import type { Sweeper } from '../../pipeline/sweeper.js';
import { dayMs } from '../../schemas/durations.js';
import type { StageContext } from './context.js';

/** Kafka forgets a segment of a day as a whole, and looks for such segments from time to time. */
const segmentDays = 2;

/** Starts the eraser, which the caller stops. */
export function startEraser(
  parts: Omit<EraserParts, 'retentionMs' | 'onProblem' | 'onFailed' | 'timing'>,
  { configuration, logger }: Pick<StageContext, 'configuration' | 'logger'>,
): Sweeper {
  const { locations, events } = configuration;
  // Rows and deliveries are made from topics `attempts` and `deliveries` as well.
  const otherRetentionDays = Math.max(topicRetentionMs.attempts, topicRetentionMs.deliveries) / dayMs;
  const retentionDays = Math.max(otherRetentionDays, locations.retentionDays, events.retentionDays) + segmentDays;
  const eraser = createEraser({
    ...parts,
    retentionMs: retentionDays * dayMs,
    onProblem: (error) => logger.warn({ reason: (error as Error).message }, 'an erasure is repeated later'),
    onFailed: (erasures) =>
      logger.error(
        { erasures },
        'erasures have failed: their names were encrypted with another encryption key. Request them again',
      ),
  });
  eraser.start();
  return eraser;
}
