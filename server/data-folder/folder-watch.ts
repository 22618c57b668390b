/**
 * Watches the data folder of a running node: its files must stay, LMDB must run, and readers that were killed must not
 * hold pages.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Watched } from '../../backends/embedded/environment.js';
import { lockFileName } from '../../backends/embedded/folder-lock.js';
import type { Space } from '../../backends/embedded/space.js';
import { StartError } from '../failures.js';

interface FolderWatch {
  /**
   * Rejects with a StartError when a file is no longer the one that was opened, or LMDB has stopped. Writes wait or are
   * refused then.
   */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

interface FolderWatchParts {
  readonly data: string;
  /** The open LMDB files, by the name of their folder. */
  readonly environments: Readonly<Record<string, Watched>>;
  readonly space: Space;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * What is acknowledged in between goes to files that may be gone, and a file grows until a dead reader is cleared. A
 * check takes some microseconds.
 */
const intervalMs = 250;

/** Starts watching a locked folder with open environments. Stop it before they are closed. */
export async function watchFolder({ data, environments, space, logger }: FolderWatchParts): Promise<FolderWatch> {
  const watchedFiles = [lockFileName, ...Object.keys(environments).map((name) => join(name, 'data.mdb'))];
  const identities = () => Promise.all(watchedFiles.map((name) => identityOf(join(data, name))));
  const opened = await identities();
  const stopping = new AbortController();

  async function refuseLostFiles(): Promise<void> {
    // When the system can't tell, for example because of permissions, nothing is known to be lost.
    const found = await identities().catch(() => opened);
    const lost = watchedFiles.filter((_, index) => found[index] !== opened[index]);
    if (lost.length > 0)
      await end(
        `the data folder ${data} was moved, deleted or replaced while the node ran (${lost.join(', ')}): ` +
          'put it back, and start again',
      );
  }

  async function requireRunning(): Promise<void> {
    for (const [name, environment] of Object.entries(environments)) {
      try {
        environment.requireRunning();
      } catch (error) {
        await end(
          `${join(data, name)} can no longer be used (${(error as Error).message}): check its disk, and start again`,
        );
      }
    }
  }

  async function end(reason: string): Promise<never> {
    await space.endWrites();
    throw new StartError(reason);
  }

  function clearDeadReaders(): void {
    const cleared = Object.values(environments).reduce((sum, each) => sum + each.clearDeadReaders(), 0);
    if (cleared > 0) logger.warn({ data, cleared }, 'a process that read the data folder was killed');
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await refuseLostFiles();
      await requireRunning();
      clearDeadReaders();
      await delay(intervalMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  const done = run();
  // The node observes it only once it has started.
  done.catch(() => {});
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Returns device and inode of a file; undefined if there is none. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
