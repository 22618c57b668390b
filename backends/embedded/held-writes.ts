/** Keeps every thread of this process from writing to its LMDB files, while another process opens them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HoldWrites } from './folder-lock.js';

/** What the thread is given. */
export interface HeldFiles {
  /** Folders of LMDB, which this process has open. */
  readonly paths: readonly string[];
  /** One number; another one than 0 ends the hold. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

/** Opening a file takes some milliseconds. */
const longMs = 5_000;

/**
 * Returns a function that begins an empty write transaction in each folder, which aborts when the hold ends. All of
 * them must be open in this process: the thread would open them with other options. `onLong` is called when a hold
 * takes seconds, because the other process does not go on.
 *
 * It takes a thread for the time of the hold. In the main thread LMDB would wait for a transaction whose writes wait
 * for the main thread.
 */
export const writesIn =
  (paths: readonly string[], onLong: () => void): HoldWrites =>
  async () => {
    const ended = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const worker = new Worker(new URL('./held-writes-worker.js', import.meta.url), {
      workerData: { paths, ended } satisfies HeldFiles,
    });
    worker.unref();
    await once(worker, 'message');
    const timer = setTimeout(onLong, longMs);
    return () => {
      clearTimeout(timer);
      Atomics.store(ended, 0, 1);
      Atomics.notify(ended, 0);
    };
  };
