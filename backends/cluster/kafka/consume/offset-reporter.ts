/**
 * Commits offsets to the group, for monitoring tools. Fenceline itself reads only the metadata beside an offset, by
 * which the next owner of a partition learns that the last assignment has ended (`hand-over.ts`).
 *
 * One commit is in flight at a time, and its content is determined when it is sent. So the last commit of a partition
 * is the newest.
 */
import { retried } from '../../../../pipeline/retrying.js';
import type { CommittedOffset, Membership } from './membership.js';
import type { PartitionAssignment } from './partition-assignment.js';

/** Commits the offsets of one member. */
export class OffsetReporter {
  readonly #commit: Membership['commit'];
  /** Last committed offset, by partition. */
  readonly #committed = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(commit: Membership['commit']) {
    this.#commit = commit;
  }

  /** Commits the offsets of the held assignments that have moved. A failed commit is left to the next one. */
  async progressOf(assignments: ReadonlySet<PartitionAssignment>): Promise<void> {
    const held = () =>
      [...assignments].filter(({ isHeld }) => isHeld).map(({ partition, nextOffset }) => ({ partition, nextOffset }));
    const moved = () => held().filter(({ partition, nextOffset }) => this.#committed.get(partition) !== nextOffset);
    await this.#enqueue(moved).catch(() => {});
  }

  /**
   * Commits the final offset of an assignment, with its id as metadata. Repeats a failed commit until the limit: this
   * member may be joining the group. Without the commit, the next owner waits for the session's end.
   */
  async endOf({ partition, nextOffset, id }: PartitionAssignment, limitMs: number): Promise<void> {
    const commit = () => this.#enqueue(() => [{ partition, nextOffset, metadata: id }]);
    await retried(commit, { limitMs }).catch(() => {});
  }

  #enqueue(find: () => readonly CommittedOffset[]): Promise<void> {
    const committed = this.#last.then(() => this.#commitAll(find()));
    this.#last = committed.catch(() => {});
    return committed;
  }

  async #commitAll(offsets: readonly CommittedOffset[]): Promise<void> {
    if (offsets.length === 0) return;
    await this.#commit(offsets);
    for (const { partition, nextOffset } of offsets) this.#committed.set(partition, nextOffset);
  }
}
