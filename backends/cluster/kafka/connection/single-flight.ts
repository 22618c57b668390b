/** Returns a function that joins the call in flight, if there is one, instead of starting another. */
export function singleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<T> | undefined;
  return () => {
    inFlight ??= call().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
}
