/**
 * The process of one replay. It reads the log of a data folder or of a cluster, tells its parent what it finds, and
 * ends. It ends early when the parent has ended.
 */
import { openLogReader, type ReadableLog } from '../backends/embedded/reader.js';
import { becomeHelper, yieldToOthers } from '../schemas/helper-process.js';
import type { ProcessMessage, ReplaySource } from './child.js';
import { runJob } from './job.js';

/** The server's own work goes first. */
const niceness = 10;

async function openLog(source: ReplaySource): Promise<{ readonly log: ReadableLog; close(): Promise<void> }> {
  if (source.kind === 'folder') {
    const log = await openLogReader(source.path);
    return { log, close: () => log.close() };
  }
  // Loaded here, because a data folder needs none of its clients.
  const { openCluster } = await import('../backends/cluster/cluster.js');
  return openCluster({ ...source.options, onProblem: () => {} });
}

process.once('disconnect', () => process.exit());
becomeHelper();

/** Resolves when the parent has taken the message, so that a slow parent slows this process down. */
const tell = (message: object): Promise<void> =>
  new Promise((resolve) => {
    if (!process.connected) return resolve();
    process.send!(message, () => resolve());
  });

async function run({ source, job, bounds }: ProcessMessage): Promise<void> {
  const opened = await openLog(source);
  // Not before: the server's writers wait while the log is opened.
  yieldToOthers(niceness);
  try {
    for await (const message of runJob(opened.log, job, bounds)) await tell(message);
  } finally {
    await opened.close();
  }
}

process.once('message', (message) => {
  run(message as ProcessMessage)
    .catch(async (error: unknown) => {
      await tell({ kind: 'failed', reason: `the replay failed: ${(error as Error).message}` });
      process.exitCode = 1;
    })
    .finally(() => {
      if (process.connected) process.disconnect();
    });
});
