/** The admin API key of a data folder. It is created on the first start and readable only by the owner. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { adminKeyPrefix } from '../../http/access/keys.js';
import { readKeyFile, writeKeyFile } from './key-file.js';

/** Its file in the data folder. */
export const adminApiKeyFile = 'admin-api-key';

/** Returns the key from the environment, else from the folder. Creates it if there is none. */
export function adminApiKey(folder: string, given: string | undefined): string {
  const path = join(folder, adminApiKeyFile);
  const present = given || readKeyFile(path);
  if (present) return present;
  const created = `${adminKeyPrefix}${randomBytes(24).toString('hex')}`;
  writeKeyFile(path, created);
  return created;
}
