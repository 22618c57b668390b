/** The admin API key of a data folder. It is created on the first start and readable only by the owner. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminKeyPrefix } from '../../http/access/keys.js';

export const adminApiKeyFile = 'admin-api-key';

/** Returns the key from the environment, else from the folder. Creates it if there is none. */
export function adminApiKey(folder: string, given: string | undefined): string {
  if (given) return given;
  const path = join(folder, adminApiKeyFile);
  if (!existsSync(path)) writeFileSync(path, `${adminKeyPrefix}${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}
