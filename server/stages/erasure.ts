/** Starts the eraser on a backend. Problems go to the log. */
import { createEraser, type EraserParts } from '../../pipeline/stages/erasure/eraser.js';
import type { Sweeper } from '../../pipeline/sweeper.js';
import { dayMs } from '../../schemas/durations.js';
import type { StageContext } from './context.js';

/** Retention of topics `attempts` and `deliveries`, from which rows and deliveries are made as well. */
const minRetentionDays = 7;

/** Starts the eraser, which the caller stops. */
export function startEraser(
  parts: Omit<EraserParts, 'retentionMs' | 'onProblem' | 'onFailed' | 'timing'>,
  { configuration, logger }: Pick<StageContext, 'configuration' | 'logger'>,
): Sweeper {
  const { locations, events } = configuration;
  const retentionDays = Math.max(minRetentionDays, locations.retentionDays, events.retentionDays) + 1;
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
