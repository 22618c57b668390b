/**
 * Finds files and folders that settings name and that cannot be used. A node reports them when it starts, and runs
 * without them: what needs them fails, and locations are evaluated. Opens nothing.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { fileProblem } from '../schemas/file-problem.js';
import type { Configuration } from './config/schema.js';
import { archiveLocation, isUrl } from './map-data.js';

interface UnusableFile {
  readonly setting: 'maps.archive' | 'geocoding.ipDatabase' | 'mail.outbox';
  /** What the file is for. */
  readonly subject: string;
  /** Names the path, the reason and the consequence. */
  readonly problem: string;
}

/** Returns whether this process draws maps and looks up addresses. */
export const hasRoleApi = ({ backend, roles }: Configuration): boolean =>
  backend === 'embedded' || roles.includes('api');

/** Returns every file that this process cannot use. Map data and addresses are of role `api` only. */
export function unusableFiles(configuration: Configuration): readonly UnusableFile[] {
  const { maps, geocoding, mail } = configuration;
  const found: UnusableFile[] = [];
  const check = (
    { setting, subject }: Pick<UnusableFile, 'setting' | 'subject'>,
    problem: string | undefined,
    consequence: string,
  ): void => {
    if (problem !== undefined) found.push({ setting, subject, problem: `${problem}: ${consequence}` });
  };
  if (hasRoleApi(configuration)) {
    const archive = archiveLocation(maps.archive);
    if (archive !== null && !isUrl(archive))
      check({ setting: 'maps.archive', subject: 'map data' }, problemOfFile(archive), 'maps fail');
    if (geocoding.ipDatabase !== '')
      check(
        { setting: 'geocoding.ipDatabase', subject: 'geocoding' },
        problemOfFile(geocoding.ipDatabase),
        'GET /v1/geocode/ip fails',
      );
  }
  if (mail.host === '' && mail.outbox !== '')
    check({ setting: 'mail.outbox', subject: 'mail' }, problemOfFolder(mail.outbox), 'mails are lost');
  return found;
}

/** Logs every file that this process cannot use. */
export function reportUnusableFiles(configuration: Configuration, logger: Logger): void {
  for (const { setting, problem } of unusableFiles(configuration)) logger.error(`${setting}: ${problem}`);
}

function problemOfFile(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile() ? undefined : `${path} can't be read: it is no file`;
  } catch (error) {
    return `${path} can't be read: ${fileProblem(error)}`;
  }
}

/** Accepts a folder that is missing, because the first mail creates it. */
function problemOfFolder(path: string): string | undefined {
  let existing = resolve(path);
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    if (!statSync(existing).isDirectory()) return `${path} can't be used: ${existing} is a file, not a folder`;
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${path} can't be used: ${fileProblem(error)}`;
  }
}
