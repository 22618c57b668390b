/**
 * Decodes untrusted icons in a process that is killed when one takes too long or too much memory.
 *
 * Input: files. Output: small images for a map's scale, or the rule that a file breaks. Both are cached by the file's
 * contents. Problems expire, but a file that took too long is not tried again with each map.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { invalid, type Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { Crash, Overdue } from './failed-job.js';
import type { Works } from './messages.js';
import { createPool, type JobOptions, type PoolOptions } from './pool.js';
import { SharedWork } from './shared-work.js';

/** Decodes icons in another process, because a file may come from anywhere. */
export interface IconPool {
  /** Rejects like {@link Pool.run} when there is no result. `owner` is charged for the processor time. */
  rasterize(owner: string, file: Uint8Array, scale: number, signal?: AbortSignal): Promise<Validated<RasterIcon>>;
  close(): Promise<void>;
}

/** Time limit of one icon in a ready process. Ordinary icons take a few milliseconds. */
const iconDeadlineMs = 3_000;
const defaultAnswerTimeoutMs = 10_000;
/** Maximum number of waiting icons. One owner may use all of it until another owner needs some. */
export const maxWaiting = 200;
const costMs = 20;
const maxKeptBytes = 16 * 2 ** 20;
const entryBytes = 500;
const badKeptForMs = 10 * 60_000;

type IconPoolOptions = Pick<PoolOptions, 'module' | 'onProblem' | 'startTimeoutMs'> & {
  /** Time limit of a caller's wait, starts of processes included. Default 10 s. */
  readonly answerTimeoutMs?: number;
};

/** Creates a pool of one decoding process, which the caller closes. It starts with the first icon. */
export function createIconPool({ answerTimeoutMs = defaultAnswerTimeoutMs, ...options }: IconPoolOptions): IconPool {
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
  /** By owner too: an owner that gives way at the bound must not fail the others. */
  const decoding = new SharedWork<Validated<RasterIcon>>();

  async function decoded(
    key: string,
    input: Works['rasterizeIcon']['input'],
    order: JobOptions,
  ): Promise<Validated<RasterIcon>> {
    const icon = await pool.run({ kind: 'rasterizeIcon', ...input }, order).then(
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
    rasterize(owner, file, scale, signal) {
      const key = `${createHash('sha256').update(file).digest('base64')} ${scale}`;
      const known = kept.get(key);
      if (known) return Promise.resolve(known);
      const ownKey = JSON.stringify([owner, key]);
      const decode = (abandonment: AbortSignal) =>
        decoded(key, { file, scale }, { owner, costMs, pixels: 1, signal: abandonment });
      return decoding.join(ownKey, decode, signal);
    },
    close: () => pool.close(),
  };
}
