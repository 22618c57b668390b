/**
 * One piece of work at a time for each partition: the log hands over, while a claim that was lost may have to be
 * recovered.
 */
export class PartitionMutex {
  readonly #last = new Map<number, Promise<unknown>>();

  /** Whether work on the partition is under way or waits. */
  isTaken(partition: number): boolean {
    return this.#last.has(partition);
  }

  /** Runs the work after what was to be done before it. Settles as the work does. */
  async take<Result>(partition: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(partition);
    const result = before === undefined ? work() : before.then(work, work);
    this.#last.set(partition, result);
    try {
      return await result;
    } finally {
      if (this.#last.get(partition) === result) this.#last.delete(partition);
    }
  }
}
