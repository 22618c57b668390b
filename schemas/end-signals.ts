/** The signals by which a terminal or a supervisor ends a process. SIGHUP is sent when a terminal is closed. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls the function on the first of {@link endSignals}. After it all end the process, unless something else listens. */
export function onFirstSignal(hear: (name: NodeJS.Signals) => void): void {
  const hearFirst = (name: NodeJS.Signals): void => {
    // Before the listeners are removed: Node drops signals that wait when a signal has no listener left.
    hear(name);
    for (const each of endSignals) process.off(each, hearFirst);
  };
  for (const each of endSignals) process.on(each, hearFirst);
}
