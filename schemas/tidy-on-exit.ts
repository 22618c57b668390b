/**
 * Calls the function if the process exits before the returned function is called. A process that a signal ends without
 * a listener does not exit in this sense.
 */
export function tidyOnExit(tidy: () => void): () => void {
  process.once('exit', tidy);
  return () => void process.off('exit', tidy);
}
