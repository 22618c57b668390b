/** The node's side of the process of a replay. */
import { type ChildProcess, fork } from 'node:child_process';
import type { ClusterOptions } from '../backends/cluster/cluster.js';
import { endOfProcess, withoutSettings } from '../schemas/helper-process.js';
import type { JobBounds, JobMessage, ReplayJob } from './job.js';

/** Where the log is. */
export type ReplaySource =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'cluster'; readonly options: Omit<ClusterOptions, 'onProblem'> };

/** The first message to the process. */
export interface ProcessMessage {
  readonly source: ReplaySource;
  readonly job: ReplayJob;
  readonly bounds: JobBounds;
}

/** Runs a job, and calls `hear` for each message. Resolves at its end; aborting the signal ends it at once. */
export type RunReplay = (
  job: ReplayJob,
  bounds: JobBounds,
  hear: (message: JobMessage) => void,
  signal: AbortSignal,
) => Promise<void>;

const maxHeapMib = 2_048;

/** Creates the function that runs each replay in a process of its own. `module` is the file that the process runs. */
export const runInProcess =
  (module: URL, source: ReplaySource): RunReplay =>
  (job, bounds, hear, signal) =>
    new Promise((resolve) => {
      let hasEnded = false;
      const child: ChildProcess = fork(module, {
        serialization: 'advanced',
        execArgv: [`--max-old-space-size=${maxHeapMib}`],
        env: withoutSettings(process.env),
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        signal,
        // It writes only files without a name, and it may be too busy to end by itself.
        killSignal: 'SIGKILL',
      });
      const ended = (how: string): void => {
        if (!hasEnded && !signal.aborted) hear({ kind: 'failed', reason: `the process of the replay ended: ${how}` });
        resolve();
      };
      child.on('message', (told) => {
        const heard = told as JobMessage;
        hasEnded ||= heard.kind === 'end' || heard.kind === 'failed';
        hear(heard);
      });
      child.once('exit', (code, exitSignal) => ended(endOfProcess(code, exitSignal)));
      // A process that could not start emits no `exit`.
      child.on('error', ({ message }) => child.pid === undefined && ended(message));
      child.send({ source, job, bounds } satisfies ProcessMessage);
    });
