/**
 * The import thread: reads, validates and compares the rows of large files, and encodes the changes. The main thread
 * appends them and applies them to the read model, which this thread reads.
 */
import { workerData } from 'node:worker_threads';
import { remote, serve } from '../../backends/embedded/remote.js';
import { Execution } from '../../imports/execution.js';
import {
  movedBuffers,
  remoteResolver,
  remoteWriter,
  type ThreadCalls,
  type ThreadServices,
} from '../../imports/thread.js';
import { openReadModel } from '../../pipeline/catalog/store/read-model.js';
import { hasElapsed } from '../../schemas/durations.js';
import type { ImportWorkerStart } from './import-host.js';

/** Least time between two reports of progress. */
const progressEveryMs = 100;

/** A row takes about 2 kB of small buffers. With the default of 8 kB every fourth row needs a new pool. */
Buffer.poolSize = 64 * 1_024;

const { readModelFolder, calls, services } = workerData as ImportWorkerStart;
const main = remote<ThreadServices>(services, { moved: movedBuffers });
const configuration = openReadModel(readModelFolder);
const parts = {
  configuration,
  writer: remoteWriter(main, configuration, Date.now),
  resolve: remoteResolver(main),
  clock: Date.now,
};
const running = new Map<string, AbortController>();
/** When the main thread ends, nobody receives the report. */
const unheard = (): undefined => undefined;

serve<ThreadCalls>(calls, {
  async run(first, request, bounds) {
    const interruption = new AbortController();
    running.set(first._id, interruption);
    let reportedMs = 0;
    const onProgress = (record: typeof first): void => {
      const nowMs = Date.now();
      if (!hasElapsed(progressEveryMs, reportedMs, nowMs)) return;
      reportedMs = nowMs;
      main.progress(record).catch(unheard);
    };
    try {
      const execution = new Execution({ ...parts, bounds }, first, { ...request, onProgress }, interruption.signal);
      execution.underWay.then(() => main.underWay(first._id)).catch(unheard);
      return await execution.run();
    } finally {
      running.delete(first._id);
    }
  },
  async interrupt(id) {
    running.get(id)?.abort(new Error('the server is stopping'));
  },
});
