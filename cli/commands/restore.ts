/** `fenceline restore`: restores a backup into an empty data folder. */
import { resolve } from 'node:path';
import { restore } from '../../server/backup/restore.js';
import { type Run, UsageError } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';

/** The data folder is readable by its owner only. */
const mask = 0o077;

/** Restores a backup into an empty data folder. */
export const run: Run<OptionsOf<'restore'>> = async (values, [folder, ...rest]) => {
  if (folder === undefined || rest.length > 0)
    throw new UsageError('restore requires the folder of one backup: fenceline restore FOLDER');
  const { data } = configurationFrom({ config: values.config, data: values.data }).configuration;
  process.umask(mask);
  const { startedAt, version } = await restore({
    backup: resolve(folder),
    data,
    encryptionKeyPath: values['encryption-key'],
    givenKey: process.env.FENCELINE_ENCRYPTION_KEY,
  });
  console.log(`${data}: restored what release ${version} had acknowledged before ${startedAt}`);
};
