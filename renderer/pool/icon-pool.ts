/**
 * Icons of strangers, decoded in a process that is ended when one takes too long or too much memory.
 *
 * Flows in: files. Flows out: small pictures for maps of a scale, or the rule that a file breaks. Both are remembered
 * by the file's contents, what is wrong for a while: a file that took too long isn't tried again with each map.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { invalid, type Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { Crash, createPool, Overdue, type PoolOptions } from './pool.js';

export interface IconPool {
  /** Rejects as {@link Pool.run} does where no verdict can be had. `owner` is whose share of the process is used. */
  rasterize(owner: string, file: Uint8Array, scale: number): Promise<Validated<RasterIcon>>;
  close(): Promise<void>;
}

/** How long one icon may take in a process that is ready; ordinary ones take a few milliseconds. */
export const iconDeadlineMs = 3_000;
const answerTimeoutMs = 10_000;
/** Icons that wait; of each owner's there may be that many until another owner has some. */
const maxWaiting = 200;
const costMs = 20;
const maxKeptBytes = 16 * 2 ** 20;
const entryBytes = 500;
const badKeptForMs = 10 * 60_000;

export function createIconPool(options: Pick<PoolOptions, 'module' | 'onProblem' | 'startTimeoutMs'>): IconPool {
  const pool = createPool({
    ...options,
    start: { archive: null, cacheFolder: '', userAgent: '' },
    timeoutMs: iconDeadlineMs,
    answerTimeoutMs,
    maxJobs: 1,
    maxProcesses: 1,
    maxPixelsInFlight: maxWaiting,
    purpose: 'icons',
  });
  const kept = new LRUCache<string, Validated<RasterIcon>>({
    maxSize: maxKeptBytes,
    sizeCalculation: (icon) => entryBytes + (icon.ok ? icon.value.png.length : 0),
  });
  const pending = new Map<string, Promise<Validated<RasterIcon>>>();

  async function decode(key: string, owner: string, file: Uint8Array, scale: number): Promise<Validated<RasterIcon>> {
    const icon = await pool.run({ kind: 'rasterizeIcon', file, scale }, { owner, costMs, pixels: 1 }).then(
      ({ result }) => result,
      (error: unknown) => {
        if (error instanceof Crash) return invalid('icon', 'must take less memory to draw');
        if (error instanceof Overdue && error.limitMs === iconDeadlineMs) {
          return invalid('icon', `must take less than ${iconDeadlineMs / 1_000} s to draw`);
        }
        throw error;
      },
    );
    kept.set(key, icon, icon.ok ? {} : { ttl: badKeptForMs });
    return icon;
  }

  return {
    rasterize(owner, file, scale) {
      const key = `${createHash('sha256').update(file).digest('base64')} ${scale}`;
      const known = kept.get(key);
      if (known) return Promise.resolve(known);
      let decoding = pending.get(key);
      if (!decoding) {
        decoding = decode(key, owner, file, scale).finally(() => pending.delete(key));
        pending.set(key, decoding);
      }
      return decoding;
    },
    close: () => pool.close(),
  };
}
