/**
 * Settles as the promise does, or rejects with `late()` after `limitMs` (undefined: no limit). The work goes on after a
 * rejection.
 */
export async function withinMs<T>(limitMs: number | undefined, promise: Promise<T>, late: () => Error): Promise<T> {
  if (limitMs === undefined) return promise;
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
