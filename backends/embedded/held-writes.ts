/** Keeps every thread of this process from writing to its LMDB files, while another process opens them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { tidyOnExit } from '../../schemas/tidy-on-exit.js';
import type { HoldWrites } from './folder-lock.js';

/** What the thread is given. */
export interface HeldFiles {
  /** Folders of LMDB, which this process has open. */
  readonly paths: readonly string[];
  /** A 1 at {@link endIndex} ends the hold. The thread sets one at {@link closedIndex} once it has closed the files. */
  readonly state: Int32Array<SharedArrayBuffer>;
}

export const endIndex = 0;
export const closedIndex = 1;

/** Opening a file takes some milliseconds. */
const longMs = 5_000;
/** The thread may have to load LMDB first. */
const exitMs = 5_000;

/**
 * Returns a function that begins an empty write transaction in each folder, which aborts when the hold ends. All of
 * them must be open in this process: the thread would open them with other options. `onLong` is called when a hold
 * takes seconds, because the other process does not go on.
 *
 * It takes a thread for the time of the hold. In the main thread LMDB would wait for a transaction whose writes wait
 * for the main thread. An exit of the process waits until the thread has closed the files: LMDB would wait forever for
 * a transaction whose thread was ended. Rejects if the thread can't be started, for lack of file descriptors for
 * example.
 */
export const writesIn =
  (paths: readonly string[], onLong: () => void): HoldWrites =>
  async () => {
    const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const end = () => {
      Atomics.store(state, endIndex, 1);
      Atomics.notify(state, endIndex);
    };
    const worker = new Worker(new URL('./held-writes-worker.js', import.meta.url), {
      workerData: { paths, state } satisfies HeldFiles,
    });
    const release = tidyOnExit(() => {
      end();
      Atomics.wait(state, closedIndex, 0, exitMs);
    });
    worker.once('exit', release).unref();
    await once(worker, 'message');
    const timer = setTimeout(onLong, longMs);
    return () => {
      clearTimeout(timer);
      end();
    };
  };
