/** Counts what stays open for long, such as streams and connections: all together, and by a name. */

interface OpenCounts {
  /** Number of all that are open. */
  readonly total: number;
  /** Returns how many of a name, such as a project, key or address, are open. */
  of(name: string): number;
  /** Counts one more. Returns a function that takes it off again, which must be called once. */
  add(name: string): () => void;
}

/** Creates counts of zero. A name is forgotten when nothing of it is open. */
export function createOpenCounts(): OpenCounts {
  const counts = new Map<string, number>();
  let total = 0;
  const of = (name: string): number => counts.get(name) ?? 0;
  return {
    get total() {
      return total;
    },
    of,
    add(name) {
      counts.set(name, of(name) + 1);
      total += 1;
      return () => {
        const left = of(name) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
        total -= 1;
      };
    },
  };
}
