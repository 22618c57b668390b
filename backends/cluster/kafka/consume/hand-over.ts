/**
 * How a partition goes from a member of a group that lives on to another: the old owner finishes first, then the new
 * one claims it.
 *
 * Kafka makes all members join again before any of them knows what it loses, so the new owner hears of its luck at the
 * same moment as the old one of its loss. But each told the group at the join which leases it had, and when it has let
 * one go, it reports the lease's id as a note beside the partition's offset. The new owner waits for that note; not for
 * ever, for the store's token fences whoever is late.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { shared } from '../connection/shared.js';
import type { MemberState } from './group-assigner.js';
import type { Lease } from './lease.js';
import type { Membership } from './membership.js';

const pollEveryMs = 50;

export interface HandOverParts {
  readonly group: Pick<Membership, 'isSettled' | 'others' | 'notes'>;
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

  /**
   * Resolves when no other member works on the lease's partition any more, when the lease is lost, or after the
   * timeout.
   */
  async released(lease: Lease): Promise<void> {
    const { group, timeoutMs, onProblem } = this.#parts;
    const deadlineMs = performance.now() + timeoutMs;
    let holders: readonly string[] | undefined;
    for (; lease.state === 'waiting'; await delay(pollEveryMs)) {
      holders = await this.#stillHolding(lease.partition, holders);
      // Whose it will be is being decided anew; whoever gets it then was told that we have not begun.
      if (!group.isSettled) continue;
      if (holders?.length === 0) return;
      if (performance.now() < deadlineMs) continue;
      onProblem(`partition ${lease.partition} is claimed before its last owner let it go`);
      return;
    }
  }

  /**
   * Of the leases that others had on the partition, those that aren't noted as gone; undefined while nobody can tell.
   */
  async #stillHolding(partition: number, known: readonly string[] | undefined): Promise<readonly string[] | undefined> {
    try {
      const holders = known ?? (await this.#holders(partition));
      if (holders === undefined || holders.length === 0) return holders;
      const note = (await this.#notes()).get(partition);
      return holders.filter((id) => id !== note);
    } catch (error) {
      this.#parts.onProblem(`partition ${partition}: cannot learn who has it: ${(error as Error).message}`);
      return known;
    }
  }

  /** Leases of others on the partition, as they told the group. */
  async #holders(partition: number): Promise<string[] | undefined> {
    const others = await this.#others();
    return others
      ?.flatMap(({ leases }) => leases)
      .filter((lease) => lease.partition === partition && lease.state !== 'waiting' && !this.#parts.isOwn(lease.id))
      .map(({ id }) => id);
  }
}
