/** Watches the data folder of a running node for what other processes leave behind in it. */
import type { Logger } from 'pino';
import type { Embedded } from '../../backends/embedded/embedded.js';

export interface FolderWatch {
  stop(): void;
}

export interface FolderWatchParts {
  readonly data: string;
  readonly backend: Pick<Embedded, 'clearDeadReaders'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** A file grows by everything that is written until a dead reader is cleared. A check takes some microseconds. */
const intervalMs = 250;

export function watchFolder({ data, backend, logger }: FolderWatchParts): FolderWatch {
  const timer = setInterval(() => {
    const cleared = backend.clearDeadReaders();
    if (cleared > 0) logger.warn({ data, cleared }, 'a process that read the data folder was killed');
  }, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
