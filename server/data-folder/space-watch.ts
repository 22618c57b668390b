/** Watches the free space of the data folder's disk, and tells the threads, the log and the metrics. */
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Space, SpaceLevel } from '../../backends/embedded/space.js';
import type { Configuration } from '../config/schema.js';
import { addGauge } from '../metrics.js';

export interface FreeSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface SpaceWatch {
  /** Looks once more before it resolves. */
  look(): Promise<void>;
  stop(): void;
}

export interface SpaceWatchParts {
  readonly configuration: Pick<Configuration, 'data' | 'storage'>;
  readonly space: Space;
  readonly logger: Pick<Logger, 'error' | 'info'>;
  readonly registry: Registry;
  /** Of the disk that has the folder. */
  readonly probe?: (folder: string) => Promise<FreeSpace>;
  readonly intervalMs?: number;
}

const defaultIntervalMs = 250;
/** Of the least free space: below it even what was accepted is no longer worked off. */
const outShare = 0.5;
/** Above a bound, before what it stopped goes on: near the bound it would stop and go on with every write. */
const hysteresis = 1.1;
/** A write failed although the disk seemed to have room, as under a quota: so long nothing is tried again. */
const minOutMs = 2_000;

/** The level after one look. Pure. */
export function levelAfter(before: SpaceLevel, freeBytes: number, minFreeBytes: number): SpaceLevel {
  const outBytes = outShare * minFreeBytes * (before === 'out' ? hysteresis : 1);
  const lowBytes = minFreeBytes * (before === 'enough' ? 1 : hysteresis);
  if (freeBytes < outBytes) return 'out';
  return freeBytes < lowBytes ? 'low' : 'enough';
}

/** What must stay free: the larger of the two bounds. */
export const minFreeBytesOf = (
  { minFreeBytes, minFreePercent }: Configuration['storage'],
  totalBytes: number,
): number => Math.max(minFreeBytes, (minFreePercent / 100) * totalBytes);

async function askFileSystem(folder: string): Promise<FreeSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Starts watching. What it finds at first is known when it resolves. */
export async function watchSpace(parts: SpaceWatchParts): Promise<SpaceWatch> {
  const { configuration, space, logger, registry, probe = askFileSystem, intervalMs = defaultIntervalMs } = parts;
  const { data, storage } = configuration;
  let free: FreeSpace = { freeBytes: Number.NaN, totalBytes: Number.NaN };
  /** As it was told last. */
  let told: SpaceLevel = 'enough';
  let outAtMs = Number.NEGATIVE_INFINITY;

  function tell(level: SpaceLevel, minFreeBytes: number): void {
    if (level === told) return;
    const details = { data, freeBytes: free.freeBytes, minFreeBytes };
    if (level === 'enough') logger.info(details, 'the disk has room again: writes are accepted');
    else if (level === 'out')
      logger.error(details, 'the disk is full: writes are refused, and evaluation, analytics and webhooks wait');
    else logger.error(details, 'the disk is nearly full: writes are refused');
    told = level;
  }

  async function look(): Promise<void> {
    free = await probe(data);
    const minFreeBytes = minFreeBytesOf(storage, free.totalBytes);
    const before = space.level;
    const nowMs = performance.now();
    // Another thread may have set it, when a write failed.
    if (before === 'out' && told !== 'out') outAtMs = nowMs;
    const level = nowMs - outAtMs < minOutMs ? 'out' : levelAfter(before, free.freeBytes, minFreeBytes);
    space.level = level;
    tell(level, minFreeBytes);
  }

  addGauge(registry, {
    name: 'storage_free_bytes',
    help: 'Free space of the disk that has the data folder.',
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
    read: async () => (space.level === 'enough' ? 0 : 1),
  });
  await look();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const lookAgain = (): void => {
    timer = setTimeout(() => {
      // A file system that can't be asked answers nothing new.
      void look()
        .catch((error: Error) => logger.error({ data, reason: error.message }, 'free space is unknown'))
        .then(() => !isStopped && lookAgain());
    }, intervalMs);
    timer.unref();
  };
  lookAgain();
  return {
    look,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
