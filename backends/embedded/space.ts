/**
 * Free space on the disk of the data folder, and the writes to it, shared between the threads of a node. A statement of
 * the analytics engine is a write too, also if it only reads.
 *
 * One thread watches the disk and sets the level; all threads read it. `low`: requests are rejected, accepted data is
 * still processed. `out`: all writes wait. Once a node has failed, it is `out` until the process ends.
 */
import { statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { PortError } from '../../pipeline/errors.js';

const spaceLevels = ['enough', 'low', 'out'] as const;
/** How much free space the disk has. `low`: requests are rejected. `out`: all writes wait. */
export type SpaceLevel = (typeof spaceLevels)[number];

/** The level, whether writing has ended, and the number of writes that run. Shared between threads. */
export type SharedSpace = Int32Array;

const cells = { level: 0, ended: 1, running: 2 } as const;

/** Creates the memory that threads share. */
export const newSharedSpace = (): SharedSpace =>
  new Int32Array(new SharedArrayBuffer(Object.keys(cells).length * Int32Array.BYTES_PER_ELEMENT));

/** The free space of a disk, as all threads of a process see it. */
export interface Space {
  level: SpaceLevel;
  /** Whether {@link endWrites} was called. The level then says nothing about the disk. */
  readonly hasEnded: boolean;
  /** Resolves when writes are possible. */
  writable(): Promise<void>;
  /** Runs a write, which counts as running until its promise settles. Never settles if writing has ended. */
  counted<T>(write: () => Promise<T>): Promise<T>;
  /**
   * Makes the level `out` for good, so that no thread starts a write until the process ends. Resolves when none runs,
   * at the latest after two seconds.
   */
  endWrites(): Promise<void>;
}

const pollIntervalMs = 100;
const settledPollMs = 5;
/** A thread that has crashed never finishes its write. */
const maxSettleMs = 2_000;
const retryAfterS = 30;

/** Returns this thread's access to the shared level. Without one to share, nothing limits writes. */
export function createSpace(shared: SharedSpace = newSharedSpace()): Space {
  return {
    get hasEnded() {
      return Atomics.load(shared, cells.ended) !== 0;
    },
    get level() {
      if (this.hasEnded) return 'out';
      return spaceLevels[Atomics.load(shared, cells.level)] as SpaceLevel;
    },
    set level(level) {
      Atomics.store(shared, cells.level, spaceLevels.indexOf(level));
    },
    async writable() {
      while (this.level === 'out') await delay(pollIntervalMs);
    },
    async counted(write) {
      // Counted before the end is looked at: whoever ends writing sees either this write or none.
      Atomics.add(shared, cells.running, 1);
      try {
        if (Atomics.load(shared, cells.ended) === 0) return await write();
      } finally {
        Atomics.sub(shared, cells.running, 1);
      }
      return new Promise(() => {});
    },
    async endWrites() {
      Atomics.store(shared, cells.ended, 1);
      const deadlineMs = performance.now() + maxSettleMs;
      while (Atomics.load(shared, cells.running) > 0 && performance.now() < deadlineMs) await delay(settledPollMs);
    },
  };
}

/** Returns the error of a write that is refused because the disk is nearly full. */
export const storageFull = (): PortError =>
  new PortError('storage_full', 'the disk is nearly full: nothing can be stored until space is freed', {
    retryAfterS,
  });

/** Throws `unavailable` once writing has ended, which has nothing to do with the disk. */
function refuseWhenEnded({ hasEnded }: Pick<Space, 'hasEnded'>): void {
  if (hasEnded) throw new PortError('unavailable', 'a part of the node has failed, and the node is ending');
}

/** Throws `storage_full` unless there is space for new data, and `unavailable` once writing has ended. */
export function refuseWhenFull(space: Pick<Space, 'level' | 'hasEnded'>): void {
  refuseWhenEnded(space);
  if (space.level !== 'enough') throw storageFull();
}

/** Throws `storage_full` while all writes wait for space, and `unavailable` once writing has ended. */
export function refuseWhenOut(space: Pick<Space, 'level' | 'hasEnded'>): void {
  refuseWhenEnded(space);
  if (space.level === 'out') throw storageFull();
}

/** A short write at the end of the disk fails with EIO. With less free space than this, EIO counts as a full disk. */
const shortWriteBytes = 256 * 2 ** 20;

const { ENOSPC, EDQUOT, EIO } = constants.errno;
/** ClickHouse's codes NOT_ENOUGH_SPACE and CANNOT_WRITE_TO_FILE_DESCRIPTOR. */
const clickHouseCodes = ['243', '75'];

/** Returns whether a write to the folder failed because the disk is full. */
export function isDiskFull(error: unknown, folder: string): boolean {
  const { code, message = '' } = error as { code?: number | string; message?: string };
  if (code === ENOSPC || code === EDQUOT || code === 'ENOSPC' || code === 'EDQUOT') return true;
  if (/No space left on device|Disk quota exceeded/i.test(message) || clickHouseCodes.includes(`${code}`)) return true;
  return code === EIO && isAlmostFull(folder);
}

function isAlmostFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < shortWriteBytes;
}

/** Runs `write`, and repeats it while the disk is full. Rejects with other errors. */
export async function whenWritable<T>(space: Space, folder: string, write: () => Promise<T>): Promise<T> {
  for (;;) {
    await space.writable();
    try {
      return await space.counted(write);
    } catch (error) {
      if (!isDiskFull(error, folder)) throw error;
      space.level = 'out';
    }
  }
}
