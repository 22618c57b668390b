/** The signals by which a terminal or a supervisor ends a process. */
import { isatty } from 'node:tty';

/** SIGHUP comes when a terminal is closed. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type EndSignal = (typeof endSignals)[number];

/** Asked early: nothing tells once the terminal is closed. */
const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));

/** Lets SIGHUP end this process when it exits: without its terminal Node would abort, and could leave a core dump. */
function exitByHangUp(): void {
  process.once('exit', () => {
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}

/** Calls the function on each of {@link endSignals}. Returns a function that stops listening. */
export function onEndSignal(hear: (name: EndSignal) => void): () => void {
  const hearAny = (name: NodeJS.Signals): void => {
    if (name === 'SIGHUP' && hasTerminal) exitByHangUp();
    hear(name as EndSignal);
  };
  for (const each of endSignals) process.on(each, hearAny);
  return () => {
    for (const each of endSignals) process.off(each, hearAny);
  };
}

/** Calls the function on the first of them. After it all end the process, unless something else listens. */
export function onFirstSignal(hear: (name: EndSignal) => void): void {
  const release = onEndSignal((name) => {
    // Before the listeners are removed: Node drops signals that wait when a signal has no listener left.
    hear(name);
    release();
  });
}
