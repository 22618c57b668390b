/**
 * How a partition goes from a member of a group that lives on to another: the old owner finishes first, then the new one claims it.
 *
 * Kafka makes all members join again before any of them knows what it loses, so the new owner hears of its luck at the same moment as the old one of its
 * loss. But each told the group at the join which leases it had, and when it has let one go, it reports the lease's id as a note beside the
 * partition's offset. The new owner waits for that note; not for ever, for the store's token fences whoever is late.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from './lease.js';
import type { Membership } from './membership.js';
import { shared } from './shared.js';

const pollEveryMs = 50;

export type Group = Pick<Membership, 'others' | 'notes'>;

export class HandOver {
  readonly #others: () => ReturnType<Group['others']>;
  readonly #notes: () => ReturnType<Group['notes']>;

  constructor(
    group: Group,
    private readonly timeoutMs: number,
    private readonly onProblem: (message: string) => void,
  ) {
    this.#others = shared(() => group.others());
    this.#notes = shared(() => group.notes());
  }

  /** Resolves when no other member works on the lease's partition any more, when the lease is lost, or after the timeout. */
  async released(lease: Lease): Promise<void> {
    const deadlineMs = performance.now() + this.timeoutMs;
    let holders: string[] | undefined;
    while (lease.state === 'waiting') {
      try {
        holders ??= await this.#holders(lease.partition);
        if (holders?.length === 0) return;
        const note = holders && (await this.#notes()).get(lease.partition);
        holders = holders?.filter((id) => id !== note);
        if (holders?.length === 0) return;
      } catch (error) {
        this.onProblem(`partition ${lease.partition}: cannot learn who has it: ${(error as Error).message}`);
      }
      if (performance.now() > deadlineMs) {
        this.onProblem(`partition ${lease.partition} is claimed before its last owner let it go`);
        return;
      }
      await delay(pollEveryMs);
    }
  }

  /** Leases of others on the partition; undefined when nobody can tell yet. */
  async #holders(partition: number): Promise<string[] | undefined> {
    const others = await this.#others();
    const theirs = others?.flatMap(({ leases }) => leases);
    return theirs?.filter((lease) => lease.partition === partition && lease.state !== 'waiting').map(({ id }) => id);
  }
}
