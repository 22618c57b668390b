/** Watches the free disk space of the data folder, and reports it to the threads, the log and the metrics. */
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Space, SpaceLevel } from '../../backends/embedded/space.js';
import type { Configuration } from '../config/schema.js';
import { addGauge } from '../metrics.js';

interface FreeSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

interface SpaceWatch {
  /** Checks the disk now. */
  check(): Promise<void>;
  stop(): void;
}

interface SpaceWatchParts {
  readonly configuration: Pick<Configuration, 'data' | 'storage'>;
  readonly space: Space;
  readonly logger: Pick<Logger, 'error' | 'info'>;
  readonly registry: Registry;
  /** Returns the space of the disk that contains the folder. */
  readonly probe?: (folder: string) => Promise<FreeSpace>;
  readonly intervalMs?: number;
}

const defaultIntervalMs = 250;
/** Share of the minimum free space below which accepted records are no longer processed. */
const outShare = 0.5;
/** Factor above a limit before writes resume. Without it they would stop and resume with every write near the limit. */
const hysteresis = 1.1;
/**
 * Delay before the next attempt after a write failed although the disk seemed to have space, for example under a quota.
 */
const minOutMs = 2_000;

/** Returns the level after a check. Pure. */
export function levelAfter(before: SpaceLevel, freeBytes: number, minFreeBytes: number): SpaceLevel {
  const outBytes = outShare * minFreeBytes * (before === 'out' ? hysteresis : 1);
  const lowBytes = minFreeBytes * (before === 'enough' ? 1 : hysteresis);
  if (freeBytes < outBytes) return 'out';
  return freeBytes < lowBytes ? 'low' : 'enough';
}

/** Returns the minimum free space: the larger of the two limits. */
export const minFreeBytesOf = (
  { minFreeBytes, minFreePercent }: Configuration['storage'],
  totalBytes: number,
): number => Math.max(minFreeBytes, (minFreePercent / 100) * totalBytes);

/** Returns the space of the disk that contains the folder. */
export async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Starts watching. Resolves after the first check. */
export async function watchSpace(parts: SpaceWatchParts): Promise<SpaceWatch> {
  const { configuration, space, logger, registry, probe = freeSpaceOf, intervalMs = defaultIntervalMs } = parts;
  const { data, storage } = configuration;
  let free: FreeSpace = { freeBytes: Number.NaN, totalBytes: Number.NaN };
  /** The level that was logged last. */
  let reported: SpaceLevel = 'enough';
  let outAtMs = Number.NEGATIVE_INFINITY;
  let isKnown = true;

  function report(level: SpaceLevel, minFreeBytes: number): void {
    if (level === reported) return;
    const details = { data, freeBytes: free.freeBytes, minFreeBytes };
    if (level === 'enough') logger.info(details, 'the disk has free space again: writes are accepted');
    else if (level === 'out')
      logger.error(details, 'the disk is full: writes are refused, and evaluation, analytics and webhooks wait');
    else logger.error(details, 'the disk is nearly full: writes are refused');
    reported = level;
  }

  async function check(): Promise<void> {
    free = await probe(data);
    // The node is ending for another reason.
    if (space.hasEnded) return;
    const minFreeBytes = minFreeBytesOf(storage, free.totalBytes);
    const before = space.level;
    const nowMs = performance.now();
    // Another thread sets it when a write fails.
    if (before === 'out' && reported !== 'out') outAtMs = nowMs;
    const level = nowMs - outAtMs < minOutMs ? 'out' : levelAfter(before, free.freeBytes, minFreeBytes);
    space.level = level;
    report(level, minFreeBytes);
  }

  /** If the file system does not answer, the last level stays. */
  async function checkAgain(): Promise<void> {
    const problem = await check().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem !== undefined && isKnown) logger.error({ data, reason: problem }, 'free space is unknown');
    if (problem === undefined && !isKnown)
      logger.info({ data, freeBytes: free.freeBytes }, 'free space is known again');
    isKnown = problem === undefined;
  }

  addGauge(registry, {
    name: 'storage_free_bytes',
    help: 'Free space of the disk that contains the data folder.',
    read: async () => free.freeBytes,
  });
  addGauge(registry, {
    name: 'storage_min_free_bytes',
    help: 'Free space below which writes are refused.',
    read: async () => minFreeBytesOf(storage, free.totalBytes),
  });
  addGauge(registry, {
    name: 'storage_writes_refused',
    help: '1 while writes are refused because the disk is nearly full, else 0.',
    read: async () => ((space.hasEnded ? reported : space.level) === 'enough' ? 0 : 1),
  });
  await check();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const scheduleCheck = (): void => {
    timer = setTimeout(() => {
      void checkAgain().then(() => !isStopped && scheduleCheck());
    }, intervalMs);
    timer.unref();
  };
  scheduleCheck();
  return {
    check,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
