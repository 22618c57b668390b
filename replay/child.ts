/** The node's side of the process of a replay. */
import { type ChildProcess, fork } from 'node:child_process';
import type { ClusterOptions } from '../backends/cluster/cluster.js';
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

/** Runs a job, and calls `hear` for each message. Resolves at its end; aborting the signal ends it early. */
export type RunReplay = (
  job: ReplayJob,
  bounds: JobBounds,
  hear: (message: JobMessage) => void,
  signal: AbortSignal,
) => Promise<void>;

const maxHeapMb = 2_048;
/** How long an ending process may take to remove its folder. */
const endMs = 5_000;

/** @param module the compiled file that the process runs. */
export const runInProcess =
  (module: URL, source: ReplaySource): RunReplay =>
  (job, bounds, hear, signal) =>
    new Promise((resolve) => {
      let hasEnded = false;
      const child: ChildProcess = fork(module, {
        serialization: 'advanced',
        execArgv: [`--max-old-space-size=${maxHeapMb}`],
        // The node's settings may be secret.
        env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FENCELINE_'))),
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const stop = (): void => {
        if (child.connected) child.disconnect();
        setTimeout(() => child.kill('SIGKILL'), endMs).unref();
      };
      const ended = (how: string): void => {
        signal.removeEventListener('abort', stop);
        if (!hasEnded && !signal.aborted) hear({ kind: 'failed', reason: `the process of the replay ended: ${how}` });
        resolve();
      };
      child.on('message', (message) => {
        const heard = message as JobMessage;
        hasEnded ||= heard.kind === 'end' || heard.kind === 'failed';
        hear(heard);
      });
      child.once('exit', (code, exitSignal) => ended(exitSignal ?? `status ${code}`));
      // A process that could not start emits no `exit`.
      child.on('error', ({ message }) => child.pid === undefined && ended(message));
      signal.addEventListener('abort', stop);
      child.send({ source, job, bounds } satisfies ProcessMessage);
    });
