/** Starts what a node does to the configuration at intervals. */
import type { ReadModel } from '../../pipeline/catalog/store/read-model.js';
import { createExpirySweeper, createRestorationSweeper } from '../../pipeline/catalog/store/sweepers.js';
import type { ConfigurationWriter } from '../../pipeline/catalog/types.js';
import type { TakeLease } from '../../pipeline/sweeper.js';
import { dayMs } from '../../schemas/durations.js';
import type { Configuration } from '../config/schema.js';
import { type Part, stopInOrder } from '../node.js';

interface SweeperParts {
  readonly readModel: ReadModel;
  readonly writer: ConfigurationWriter;
  readonly takeLease: TakeLease;
}

/** Starts the deletion of expired geofences and the restoration of records, which the caller stops. */
export function startSweepers(parts: SweeperParts, { expiry }: Pick<Configuration, 'expiry'>): Part {
  const sweepers = [
    createExpirySweeper({ ...parts, intervalMs: expiry.intervalMs, retentionMs: expiry.retentionDays * dayMs }),
    createRestorationSweeper(parts),
  ];
  for (const sweeper of sweepers) sweeper.start();
  return { done: Promise.race(sweepers.map(({ done }) => done)), stop: () => stopInOrder(sweepers) };
}
