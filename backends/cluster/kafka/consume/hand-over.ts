/**
 * Hands a partition over from one live member of a group to another: the previous owner finishes before the new one
 * claims it.
 *
 * In a rebalance, both learn of the new assignment at the same moment. But each member lists its assignments when it
 * joins, and commits the id of a released one as metadata beside the partition's offset. The new owner waits for that
 * metadata up to a limit. After the limit it claims the partition: the store's token fences off the previous owner.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { singleFlight } from '../connection/single-flight.js';
import type { MemberState } from './group-assigner.js';
import type { Membership } from './membership.js';
import type { PartitionAssignment } from './partition-assignment.js';

const pollEveryMs = 50;

/** The group, and how long its previous owner of a partition is waited for. */
export interface HandOverParts {
  readonly group: Pick<Membership, 'isSettled' | 'otherMembers' | 'committedMetadata'>;
  /** Whether an assignment is of this process, which may still be in the group under an earlier member id. */
  readonly isOwn: (id: string) => boolean;
  readonly timeoutMs: number;
  readonly onProblem: (message: string) => void;
}

/** Waits for the previous owners of partitions. Concurrent waits share their requests to the group. */
export class HandOver {
  readonly #parts: HandOverParts;
  readonly #otherMembers: () => Promise<MemberState[] | undefined>;
  readonly #metadata: () => Promise<ReadonlyMap<number, string | null>>;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
    this.#otherMembers = singleFlight(() => parts.group.otherMembers());
    this.#metadata = singleFlight(() => parts.group.committedMetadata());
  }

  /** Resolves when no other member holds the partition, when the assignment is lost, or after the timeout. */
  async released(assignment: PartitionAssignment): Promise<void> {
    const { group, timeoutMs, onProblem } = this.#parts;
    const deadlineMs = performance.now() + timeoutMs;
    let holders: readonly string[] | undefined;
    for (; assignment.state === 'waiting'; await delay(pollEveryMs)) {
      holders = await this.#stillHolding(assignment.partition, holders);
      // A rebalance is in progress. This member has listed the assignment as `waiting`, so the next owner ignores it.
      if (!group.isSettled) continue;
      if (holders?.length === 0) return;
      if (performance.now() < deadlineMs) continue;
      onProblem(`partition ${assignment.partition} is claimed before its previous owner released it`);
      return;
    }
  }

  /** Returns the assignments of other members that are not released; undefined while that is unknown. */
  async #stillHolding(partition: number, known: readonly string[] | undefined): Promise<readonly string[] | undefined> {
    try {
      const holders = known ?? (await this.#holders(partition));
      if (holders === undefined || holders.length === 0) return holders;
      const released = (await this.#metadata()).get(partition);
      return holders.filter((id) => id !== released);
    } catch (error) {
      this.#parts.onProblem(`partition ${partition}: can't determine its previous owner: ${(error as Error).message}`);
      return known;
    }
  }

  /** Returns the assignments on the partition that other members listed when they joined. */
  async #holders(partition: number): Promise<string[] | undefined> {
    const others = await this.#otherMembers();
    return others
      ?.flatMap(({ assignments }) => assignments)
      .filter(({ partition: held, state, id }) => held === partition && state !== 'waiting' && !this.#parts.isOwn(id))
      .map(({ id }) => id);
  }
}
