/**
 * Writes mails to a folder, one `.eml` file each, for installations without an SMTP server. Mails contain one-time
 * tokens, so only the owner of the process may read them.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../schemas/create-folder.js';
import { failedMail, type MailTransport } from './mail.js';

/** The folder of mails, and how many it keeps. */
export interface OutboxOptions {
  readonly folder: string;
  /** The oldest mails beyond this number are deleted. */
  readonly maxMails: number;
}

const suffix = '.eml';
const unfinished = '.writing';

/** File names sort by time. */
const fileName = (nowMs: number): string =>
  `${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}${suffix}`;

/** Counts mails that are not whole as well: a process was killed while it wrote them. */
async function deleteOldest({ folder, maxMails }: OutboxOptions): Promise<void> {
  const mails = (await readdir(folder))
    .filter((name) => name.endsWith(suffix) || name.endsWith(suffix + unfinished))
    .sort();
  for (const name of mails.slice(0, Math.max(0, mails.length - maxMails)))
    await rm(join(folder, name), { force: true });
}

/** Creates the transport into a folder. Mails are written one after another; a fault of the disk is a result. */
export function createOutbox(options: OutboxOptions, clock: () => number): MailTransport {
  const { folder } = options;
  let last: Promise<unknown> = Promise.resolve();

  /** Other programs never see half a mail: the name gets its suffix after the content is written. */
  async function write(message: Buffer): Promise<string> {
    createFolder(folder, 0o700);
    const file = join(folder, fileName(clock()));
    await writeFile(file + unfinished, message, { mode: 0o600, flag: 'wx' });
    await rename(file + unfinished, file);
    await deleteOldest(options);
    return file;
  }
  return {
    deliver({ message }) {
      const result = last.then(async () => {
        try {
          return { kind: 'written', file: await write(message) } as const;
        } catch (error) {
          return failedMail('not_written', `the outbox ${folder} refused the mail: ${(error as Error).message}`);
        }
      });
      last = result;
      return result;
    },
    async close() {
      await last;
    },
  };
}
