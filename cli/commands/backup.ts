/** `fenceline backup`: backs up the data folder of an embedded node. */
import { resolve } from 'node:path';
import { isLocked } from '../../backends/embedded/folder-lock.js';
import { backUp, type Snapshot, type Snapshots } from '../../server/backup/backup.js';
import { endForSure } from '../../server/end-for-sure.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { interruptible } from '../interruptible.js';
import { type Access, adminAccessOf, call, NoAnswer } from '../server.js';

/** Files are readable by their owner only: they contain locations and hashes of keys. */
const mask = 0o077;

/** Copies the data folder of an embedded node, which may run meanwhile. */
export const run: Run<OptionsOf<'backup'>> = async (values, [folder, ...rest]) => {
  if (folder === undefined || rest.length > 0)
    throw new UsageError('backup requires one folder: fenceline backup FOLDER');
  const { configuration } = configurationFrom(values);
  if (configuration.backend === 'cluster')
    throw new UsageError(
      'backup copies an embedded node; docs/backup.md says how to back up the services of a cluster',
    );
  process.umask(mask);
  // An interrupted copy goes on in a thread, and an exit waits for it.
  endForSure();
  const { data } = configuration;
  // Opening the folder says what is wrong with it.
  const isRunning = await isLocked(data).catch(() => false);
  const { files, startedAt, includesKeys } = await backUp({
    data,
    target: resolve(folder),
    snapshots: isRunning ? snapshotsOfRunning(await adminAccessOf(values), data) : await snapshotsOfStopped(data),
    includeKeys: values['include-keys'] === true,
    signal: interruptible(() => 'nothing is left of the backup').signal,
  });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  console.log(
    `${folder}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, everything acknowledged before ${startedAt}`,
  );
  if (!includesKeys)
    console.log('The backup does not contain the encryption key: keep it elsewhere, a restore requires it.');
};

const snapshotsOfRunning = (admin: Access, data: string): Snapshots => ({
  take: () =>
    call<{ snapshot: Snapshot }>(admin, 'POST', '/v1/backup-snapshots').then(
      ({ snapshot }) => snapshot,
      (error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
        throw new CommandFailure(
          `a server uses ${data}, but none answers at ${error.address} (${error.reason}): ` +
            'name its address with --port or --address',
        );
      },
    ),
  drop: (id) => call(admin, 'DELETE', `/v1/backup-snapshots/${id}`),
});

const snapshotsOfStopped = async (data: string): Promise<Snapshots> =>
  (await import('../../server/backup/snapshots.js')).snapshotsOfStopped(data);
