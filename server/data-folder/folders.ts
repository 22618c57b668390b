/** The paths in the data folder, and how the threads of a node open it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import { openNamed, withReason } from '../../backends/embedded/environment.js';
import { type Space, whenWritable } from '../../backends/embedded/space.js';
import { openReadModel, type ReadModel, readModelFormat } from '../../pipeline/catalog/store/read-model.js';
import { dayMs } from '../../schemas/durations.js';
import type { Configuration } from '../config/schema.js';

/** Opens the embedded backend. `whenFull` says what appends do while the disk is full. */
export const openBackend = (
  { data, locations, events }: Configuration,
  space: Space,
  whenFull: 'refuse' | 'wait',
): Embedded =>
  openEmbedded({
    path: data,
    space,
    whenFull,
    partitions: locations.partitions,
    retentionMs: { locations: locations.retentionDays * dayMs, events: events.retentionDays * dayMs },
  });

/** Returns the folder of the read model. */
export const readModelFolder = ({ data }: Configuration): string => join(data, 'read-model');

/** Opens the read model. While the disk is full, applying changes waits. */
export function openNodeReadModel(configuration: Configuration, space: Space): ReadModel {
  const folder = readModelFolder(configuration);
  const commit = (transaction: () => Promise<void>) =>
    whenWritable(space, configuration.data, () => withReason(transaction));
  return openNamed(folder, () => openReadModel(folder, { commit }));
}

/**
 * Removes a read model that another release stored in another format. The node then rebuilds it from the topic. Call it
 * before any thread opens the read model.
 */
export function discardOtherFormat(configuration: Configuration): void {
  const folder = readModelFolder(configuration);
  const file = join(folder, 'format');
  if (existsSync(file) && readFileSync(file, 'utf8') === `${readModelFormat}`) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${readModelFormat}`);
}

/** Returns the folder of the embedded analytics engine. */
export const analyticsFolder = ({ data }: Configuration): string => join(data, 'analytics');
