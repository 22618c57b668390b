/**
 * How a partition goes from a member of a group that lives on to another: the old owner finishes first, then the new one claims it.
 *
 * Kafka makes all members join again before any of them knows what it loses, so the new owner hears of its luck at the same moment as the old one of its
 * loss. But each told the group at the join which leases it had, and when it has let one go, it reports the lease's id as a note beside the
 * partition's offset. The new owner waits for that note; not for ever, for the store's token fences whoever is late.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { MemberState } from './group-assigner.js';
import type { Lease } from './lease.js';
import type { Membership } from './membership.js';
import { shared } from './shared.js';

const pollEveryMs = 50;

export interface HandOverParts {
  readonly group: Pick<Membership, 'others' | 'notes'>;
  /** Of leases of this process: a member that came back may still be in the group under the name that it had. */
  readonly isOwn: (id: string) => boolean;
  readonly timeoutMs: number;
  readonly onProblem: (message: string) => void;
}

export class HandOver {
  readonly #parts: HandOverParts;
  readonly #others: () => Promise<MemberState[] | undefined>;
  readonly #notes: () => Promise<ReadonlyMap<number, string | null>>;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
    this.#others = shared(() => parts.group.others());
    this.#notes = shared(() => parts.group.notes());
  }

  /** Resolves when no other member works on the lease's partition any more, when the lease is lost, or after the timeout. */
  async released(lease: Lease): Promise<void> {
    const { timeoutMs, onProblem } = this.#parts;
    const deadlineMs = performance.now() + timeoutMs;
    let holders: string[] | undefined;
    while (lease.state === 'waiting') {
      try {
        holders ??= await this.#holders(lease.partition);
        if (holders?.length === 0) return;
        const note = holders && (await this.#notes()).get(lease.partition);
        holders = holders?.filter((id) => id !== note);
        if (holders?.length === 0) return;
      } catch (error) {
        onProblem(`partition ${lease.partition}: cannot learn who has it: ${(error as Error).message}`);
      }
      if (performance.now() > deadlineMs) {
        onProblem(`partition ${lease.partition} is claimed before its last owner let it go`);
        return;
      }
      await delay(pollEveryMs);
    }
  }

  /** Leases of others on the partition; undefined when nobody can tell yet. */
  async #holders(partition: number): Promise<string[] | undefined> {
    const others = await this.#others();
    return others
      ?.flatMap(({ leases }) => leases)
      .filter((lease) => lease.partition === partition && lease.state !== 'waiting' && !this.#parts.isOwn(lease.id))
      .map(({ id }) => id);
  }
}
