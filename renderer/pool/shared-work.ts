/**
 * Work that several callers wait for at once. It is aborted when all of them have left.
 *
 * Input: work under a key, and a signal for each caller. Output: the result, which equal work has once.
 */

/** Work that runs, and how many callers wait for it. */
interface Running<T> {
  readonly result: Promise<T>;
  readonly abandonment: AbortController;
  waiting: number;
}

/** The work that runs now, by key. */
export class SharedWork<T> {
  private readonly running = new Map<string, Running<T>>();

  /**
   * Returns the result of the work that runs under this key, or starts it. Rejects with the reason of `signal` when it
   * aborts first. The signal of the work aborts with the reason of the last caller that has left.
   */
  async join(key: string, work: (abandonment: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const running = this.running.get(key) ?? this.start(key, work);
    try {
      return await this.wait(running, signal);
    } catch (error) {
      const { aborted, reason } = running.abandonment.signal;
      // The others had left before this caller came.
      if (aborted && error === reason && !signal?.aborted) return this.join(key, work, signal);
      throw error;
    }
  }

  private start(key: string, work: (abandonment: AbortSignal) => Promise<T>): Running<T> {
    const abandonment = new AbortController();
    const result = work(abandonment.signal).finally(() => this.running.delete(key));
    // Nobody may wait for it any more.
    result.catch(() => {});
    const running = { result, abandonment, waiting: 0 };
    this.running.set(key, running);
    return running;
  }

  private wait(running: Running<T>, signal: AbortSignal | undefined): Promise<T> {
    running.waiting += 1;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        running.waiting -= 1;
        if (running.waiting === 0) running.abandonment.abort(signal!.reason);
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      running.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  }
}
