/**
 * Guarantees that this process ends when it exits.
 *
 * On exit Node waits for the threads of its pool. LMDB writes on such a thread, and within a transaction waits for
 * JavaScript that no longer runs. One in six processes that exited or threw during a write hung forever.
 */
import { spawn } from 'node:child_process';

/** Far more than an exit takes. On a busy machine a healthy one took more than two seconds, and was killed. */
const graceS = 10;
/** Standard input closes when this process has ended. Then the shell must not kill, because the id may be reused. */
const script = '(sleep "$1"; kill -9 "$2") & killer=$!; cat > /dev/null; kill "$killer"';

/**
 * Starts a shell on exit that kills this process if its end takes longer than ten seconds. Writes in progress are then
 * durable or not, as in a crash.
 */
export function endForSure(): void {
  process.once('exit', () => {
    const words = ['-c', script, 'sh', `${graceS}`, `${process.pid}`];
    // Without a shell, only Node's own exit remains.
    spawn('/bin/sh', words, { stdio: ['pipe', 'ignore', 'ignore'], detached: true }).on('error', () => {});
  });
}
