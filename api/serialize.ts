/** Runs work one at a time per key: for edits that read a record, change it and write it whole. */

export type Serialize = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs work of the same key in the order of the calls. A failure rejects its own call and does not stop the next. */
export function createSerializer(): Serialize {
  const tails = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work);
    const tail = result.catch(() => undefined).finally(() => tails.get(key) === tail && tails.delete(key));
    tails.set(key, tail);
    return result;
  };
}
