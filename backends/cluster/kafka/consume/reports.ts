/**
 * Tells the group how far its partitions have come, for people and tools that look at it. Nothing here depends on that
 * but a partition's next owner, who waits for the note that its last lease is gone (`hand-over.ts`).
 *
 * One report is under way at a time, so that a partition's last one is the last; what it says is found out when its
 * turn comes.
 */
import type { Lease } from './lease.js';
import type { Membership, Progress } from './membership.js';

export class Reports {
  readonly #send: Membership['report'];
  /** Offset last reported, by partition. */
  readonly #reported = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(send: Membership['report']) {
    this.#send = send;
  }

  /** Of those that are held, what has moved. */
  progressOf(leases: ReadonlySet<Lease>): Promise<void> {
    const held = () =>
      [...leases].filter(({ isHeld }) => isHeld).map(({ partition, nextOffset }) => ({ partition, nextOffset }));
    return this.#report(() =>
      held().filter(({ partition, nextOffset }) => this.#reported.get(partition) !== nextOffset),
    );
  }

  endOf({ partition, nextOffset, id }: Lease): Promise<void> {
    return this.#report(() => [{ partition, nextOffset, note: id }]);
  }

  #report(find: () => readonly Progress[]): Promise<void> {
    this.#last = this.#last.then(() => this.#tell(find())).catch(() => {});
    return this.#last;
  }

  async #tell(progress: readonly Progress[]): Promise<void> {
    if (progress.length === 0) return;
    await this.#send(progress);
    for (const { partition, nextOffset } of progress) this.#reported.set(partition, nextOffset);
  }
}
