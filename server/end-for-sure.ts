/**
 * Sees to it that this process ends when it is to end.
 *
 * At its end Node waits for the threads of its pool. LMDB writes on one of them and waits there, within a transaction,
 * for code of ours that is not run any more: of processes that ended by an exception or by `process.exit` while they
 * wrote, every sixth stood for ever.
 */
import { spawn } from 'node:child_process';

const graceS = 2;
/** Its input ends when we have ended, by which our number may be another process's. */
const script = '(sleep "$1"; kill -9 "$2") & killer=$!; cat > /dev/null; kill "$killer"';

/**
 * From now on a shell that outlives this process ends it, if its end takes longer than two seconds. What was written
 * until then is durable or not, as in a crash.
 */
export function endForSure(): void {
  process.once('exit', () => {
    const words = ['-c', script, 'sh', `${graceS}`, `${process.pid}`];
    // Where there is no shell the end is as sure as Node makes it.
    spawn('/bin/sh', words, { stdio: ['pipe', 'ignore', 'ignore'], detached: true }).on('error', () => {});
  });
}
