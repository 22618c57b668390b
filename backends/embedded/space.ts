/**
 * Whether the disk of the data folder has room, known to every thread of a node.
 *
 * One thread watches and sets the level; all threads read it. `low`: requests are refused, what was accepted is worked
 * off. `out`: nothing is written at all, and whoever wants to write waits.
 */
import { statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { PortError } from '../../pipeline/errors.js';

export const spaceLevels = ['enough', 'low', 'out'] as const;
export type SpaceLevel = (typeof spaceLevels)[number];

/** The level, shared between threads. */
export type SharedSpace = Int32Array;

export const newSharedSpace = (): SharedSpace => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export interface Space {
  level: SpaceLevel;
  /** Resolves when writing may go on. */
  writable(): Promise<void>;
}

const lookAgainMs = 100;
const retryAfterS = 30;

export function createSpace(shared: SharedSpace = newSharedSpace()): Space {
  return {
    get level() {
      return spaceLevels[Atomics.load(shared, 0)] as SpaceLevel;
    },
    set level(level) {
      Atomics.store(shared, 0, spaceLevels.indexOf(level));
    },
    async writable() {
      while (this.level === 'out') await delay(lookAgainMs);
    },
  };
}

export const storageFull = (): PortError =>
  new PortError('storage_full', 'the disk is nearly full: nothing can be stored until space is freed', {
    retryAfterS,
  });

/** Throws `storage_full` unless there is room for what requests bring. */
export function refuseWhenFull({ level }: Pick<Space, 'level'>): void {
  if (level !== 'enough') throw storageFull();
}

/**
 * A commit that is cut short by the end of the disk fails with EIO: on a disk with less room than this it is taken for
 * that.
 */
const shortWriteBytes = 256 * 2 ** 20;

const { ENOSPC, EDQUOT, EIO } = constants.errno;
/** The codes of ClickHouse: NOT_ENOUGH_SPACE, and files that can't be written. */
const clickHouseCodes = ['243', '75'];

/** Whether a write to the folder failed for want of room. */
export function isWantOfRoom(error: unknown, folder: string): boolean {
  const { code, message = '' } = error as { code?: number | string; message?: string };
  if (code === ENOSPC || code === EDQUOT || code === 'ENOSPC' || code === 'EDQUOT') return true;
  if (/No space left on device|Disk quota exceeded/i.test(message) || clickHouseCodes.includes(`${code}`)) return true;
  return code === EIO && isAlmostFull(folder);
}

function isAlmostFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < shortWriteBytes;
}

/** Runs `write`, which can be run again, until there was room for it. Any other failure is the caller's. */
export async function whenRoom<T>(space: Space, folder: string, write: () => Promise<T>): Promise<T> {
  for (;;) {
    await space.writable();
    try {
      return await write();
    } catch (error) {
      if (!isWantOfRoom(error, folder)) throw error;
      space.level = 'out';
    }
  }
}
