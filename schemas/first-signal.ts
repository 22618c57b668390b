/** The signals by which a terminal or a supervisor ends a process. */
const names = ['SIGINT', 'SIGTERM'] as const;

/** Calls the function on the first SIGINT or SIGTERM. After it both end the process, unless something else listens. */
export function onFirstSignal(hear: (name: NodeJS.Signals) => void): void {
  const hearFirst = (name: NodeJS.Signals): void => {
    // Before the listeners are removed: Node drops signals that wait when a signal has no listener left.
    hear(name);
    for (const each of names) process.off(each, hearFirst);
  };
  for (const each of names) process.on(each, hearFirst);
}
