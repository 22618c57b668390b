/** A mutex per partition: the log hands over records while a lost claim may have to be recovered. */
export class PartitionMutex {
  readonly #last = new Map<number, Promise<unknown>>();

  /** Returns whether work on the partition is running or queued. */
  isLocked(partition: number): boolean {
    return this.#last.has(partition);
  }

  /** Runs the work after all earlier work on the partition. Settles as the work does. */
  async run<Result>(partition: number, work: () => Promise<Result>): Promise<Result> {
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
