/**
 * The shell in which npm and npx run this program. Signals to npm reach that shell alone, which ends and leaves the
 * program running.
 */
const checkEveryMs = 500;
/** What npm says that it runs, if it runs this program and waits for it. */
const ownScript = /^'?(fenceline|node dist\/cli\/main\.js)'?( [^&|;]*)?$/;

/** Calls `ended` once the shell of npm has ended. Does nothing where npm has not started this program. */
export function whenShellOfNpmEnds(ended: () => void): void {
  // A program that another script starts has the variable too, but its parent may end before it.
  if (!ownScript.test(process.env.npm_lifecycle_script ?? '')) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    ended();
  }, checkEveryMs);
  timer.unref();
}
