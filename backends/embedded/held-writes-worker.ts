/** The thread that holds write transactions of several LMDB files. Worker data as in {@link HeldFiles}. */
import { parentPort, workerData } from 'node:worker_threads';
import { ABORT, open, type RootDatabase } from 'lmdb';
import { closedIndex, endIndex, type HeldFiles } from './held-writes.js';

const { paths, state } = workerData as HeldFiles;

/** Begins a transaction in each file, one within the other, and waits. */
function hold([first, ...others]: readonly RootDatabase[]): void {
  if (first === undefined) {
    parentPort!.postMessage('held');
    Atomics.wait(state, endIndex, 0);
    return;
  }
  first.transactionSync(() => {
    hold(others);
    return ABORT;
  });
}

const files = paths.map((path) => open({ path, noSubdir: false }));
hold(files);
for (const file of files) await file.close();
Atomics.store(state, closedIndex, 1);
Atomics.notify(state, closedIndex);
