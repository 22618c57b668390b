/**
 * Renames entries of a data folder that an older release named differently.
 *
 * The caller holds the folder's lock, and opens nothing in the folder before. Each rename is atomic: after a crash in
 * between, the next start renames the rest.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { StartError } from '../failures.js';

interface Renamed {
  readonly from: string;
  readonly to: string;
  /** A folder that can be rebuilt is removed if both names exist. A key can't be rebuilt, so the operator decides. */
  readonly isRebuildable: boolean;
}

const renamed: readonly Renamed[] = [
  { from: 'administrator-key', to: 'admin-api-key', isRebuildable: false },
  { from: 'sealing-key', to: 'encryption-key', isRebuildable: false },
  { from: 'view', to: 'read-model', isRebuildable: true },
];

/** Throws a StartError when a key exists under both names, which happens after a downgrade. */
export function migrateDataFolder(folder: string, logger: Pick<Logger, 'info'>): void {
  const outdated = renamed.filter(({ from }) => existsSync(join(folder, from)));
  const contested = outdated.find(({ to, isRebuildable }) => !isRebuildable && existsSync(join(folder, to)));
  if (contested)
    throw new StartError(
      `the data folder ${folder} contains both ${contested.from}, its former name, and ${contested.to}: ` +
        'keep the one that is in use, under the new name, and remove the other',
    );
  for (const { from, to } of outdated) {
    const [path, target] = [join(folder, from), join(folder, to)];
    if (existsSync(target)) rmSync(path, { recursive: true });
    else renameSync(path, target);
    logger.info({ data: folder, from, to }, 'renamed an entry of the data folder');
  }
}
