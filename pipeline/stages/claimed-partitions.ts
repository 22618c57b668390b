/**
 * The partitions that a stage with its own store has claimed. A claim makes this process the only writer of the
 * partition's position and results. It is lost when another process claims the partition, or when the store falls back.
 *
 * Input: what the log hands over, and what the store knows of the claims. Output: each record is applied once per
 * history of the store, in offset order. A lost claim is claimed again, unless the log has assigned the partition to
 * another process, and records that the store has lost are applied again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  ClaimState,
  CommitResult,
  Divergence,
  ExpiredRecords,
  HandOverResult,
  Log,
  LogRecord,
  Position,
  StreamHandler,
  Topic,
} from '../ports.js';
import { describeDivergence, findDivergence, isSamePosition } from '../positions.js';
import { claimReplaced } from './claim-watch.js';
import { dueRecords, missedRecords } from './due-records.js';
import { PartitionMutex } from './partition-mutex.js';

/** Bounds without a setting. */
export const reclaimBounds = {
  /** Consecutive refusals after which the process ends: two owners must be fighting over the partition. */
  maxFencedAttempts: 10,
  /** Approximate delay before reclaiming a partition. */
  reclaimDelayMs: 1_000,
};
/** How long a stage waits before it claims a lost partition again, and how often it tries. */
export type ReclaimBounds = Readonly<typeof reclaimBounds>;

/** The claim on one partition, with what the stage holds for it. */
export interface Owner {
  /** Position after the last applied record. */
  readonly position: Position;
  /** Whether the store has accepted a write of this claim. */
  readonly hasWritten: boolean;
}

/** How a claim was lost. */
type ClaimLoss = Extract<ClaimState, 'claimed' | 'fallen_back'>;

/** Receives what an operator should know of the claims of a stage. None of it ends the stage. */
export interface ClaimAlerts {
  /** Called before the partition is claimed again. `nextOffset` is that of the lost claim. */
  lost(partition: number, loss: ClaimLoss, nextOffset: number): void;
  diverged(divergence: Divergence): void;
  /** Called after `diverged`, when the partition is repaired or reassigned. */
  noLongerDiverged(divergence: Divergence): void;
  expired(records: ExpiredRecords): void;
}

interface ClaimedPartitionsParts<O extends Owner> extends ReclaimBounds {
  readonly log: Pick<Log, 'read' | 'bounds'>;
  readonly topic: Topic;
  readonly maxBatchRecords: number;
  readonly alerts: ClaimAlerts;
  /** Claims the partition; earlier claims are refused from then on. */
  readonly claim: (partition: number) => Promise<O>;
  /** Compares the claims with the store, as in its port. */
  readonly verify: (owners: readonly O[]) => Promise<readonly ClaimState[]>;
  /** Applies the first records at least, and advances the owner's position past them. `fenced`: the claim is lost. */
  readonly apply: (owner: O, records: readonly LogRecord[]) => Promise<CommitResult | 'halted'>;
  /** Moves the owner's position past offsets that hold no record. Verification notices a lost claim. */
  readonly pass: (owner: O, position: Position) => Promise<unknown>;
  /** Called at each verification that finds the claim of an idle partition held. */
  readonly idle?: (owner: O) => Promise<unknown>;
  /** Ends the work of a lost claim, which can't write any more. */
  readonly abandon?: (owner: O) => void;
  /** Finishes the work of the claim before the log assigns the partition to another process. */
  readonly release?: (owner: O) => Promise<void>;
}

/** A partition that the log has assigned to this process. */
interface Partition<O extends Owner> {
  readonly number: number;
  /** Returns whether the log still assigns the partition to this process. */
  readonly isAssigned: () => boolean;
  owner: O;
  /** Consecutive claims that others took before anything was written. */
  refusals: number;
  /** The log is not the one that was read; the partition is halted until its position is repaired. */
  isDiverged: boolean;
}

/** The handler of a topic whose partitions a stage claims from its store. */
export class ClaimedPartitions<O extends Owner> implements StreamHandler {
  readonly #parts: ClaimedPartitionsParts<O>;
  readonly #partitions = new Map<number, Partition<O>>();
  readonly #mutex = new PartitionMutex();

  constructor(parts: ClaimedPartitionsParts<O>) {
    this.#parts = parts;
  }

  async assigned(number: number, isAssigned: () => boolean): Promise<Position> {
    const owner = await this.#parts.claim(number);
    this.#partitions.set(number, { number, isAssigned, owner, refusals: 0, isDiverged: false });
    return owner.position;
  }

  /** Applies the records, and before them records that a store has lost by falling back. */
  records(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { log, topic, maxBatchRecords } = this.#parts;
    const end = records.at(-1)!.offset + 1;
    const due = (from: number) => dueRecords(log, topic, from, records, maxBatchRecords);
    return this.#mutex.run(number, () => this.#applyUntil(end, this.#partitions.get(number), due));
  }

  /** Moves the position past offsets without records, after records that a store has lost by falling back. */
  passed(number: number, nextOffset: number): Promise<void> {
    return this.#mutex.run(number, async () => {
      const partition = this.#partitions.get(number);
      if ((await this.#applyMissed(nextOffset, partition)) === 'halted') return;
      if (!this.#isOurs(partition) || !partition.isAssigned()) return;
      const { owner } = partition;
      const { offset, mark } = owner.position;
      if (offset < nextOffset) await this.#parts.pass(owner, { offset: nextOffset, mark });
    });
  }

  /** Waits until the position was repaired. */
  diverged(number: number, divergence: Divergence): Promise<Position> {
    return this.#mutex.run(number, () => this.#waitForRepair(this.#partitions.get(number), divergence));
  }

  expired(records: ExpiredRecords): void {
    this.#parts.alerts.expired(records);
  }

  async revoked(number: number): Promise<void> {
    const partition = this.#partitions.get(number);
    // A recovery in progress ends with its current batch. What it began must end before the next owner begins.
    this.#partitions.delete(number);
    await this.#mutex.run(number, async () => partition && this.#parts.release?.(partition.owner));
  }

  /** Verifies the claims of idle partitions. Busy ones learn of a lost claim by their next commit. */
  async verifyClaims(): Promise<void> {
    const idle = [...this.#partitions.values()].filter(
      ({ number, isAssigned, isDiverged }) => !isDiverged && isAssigned() && !this.#mutex.isLocked(number),
    );
    const owners = idle.map(({ owner }) => owner);
    const states = await this.#parts.verify(owners);
    await Promise.all(
      idle.map(async (partition, index) => {
        const state = states[index]!;
        if (state === 'held') await this.#mutex.run(partition.number, async () => this.#parts.idle?.(partition.owner));
        else if (state !== 'unknown') await this.recover(partition.number, owners[index]!, state);
      }),
    );
  }

  /** Reclaims the partition, and applies lost records again at once. Does nothing if the owner was replaced since. */
  recover(number: number, lost: O, loss: ClaimLoss): Promise<void> {
    return this.#mutex.run(number, async () => {
      const partition = this.#partitions.get(number);
      if (partition?.owner !== lost || !partition.isAssigned()) return;
      if (!(await this.#reclaim(partition, loss))) return;
      await this.#applyMissed(lost.position.offset, partition);
    });
  }

  /** Applies the records before `end` that the owner has not applied. */
  #applyMissed(end: number, partition: Partition<O> | undefined): Promise<HandOverResult> {
    const { log, topic, maxBatchRecords } = this.#parts;
    return this.#applyUntil(end, partition, (from) =>
      missedRecords(log, topic, partition!.number, { from, end }, maxBatchRecords),
    );
  }

  /** Applies the records before `end` that `due` returns for an offset, until it returns none. */
  async #applyUntil(
    end: number,
    partition: Partition<O> | undefined,
    due: (from: number) => Promise<readonly LogRecord[]>,
  ): Promise<HandOverResult> {
    while (this.#isOurs(partition) && partition.owner.position.offset < end) {
      const records = await due(partition.owner.position.offset);
      if (records.length === 0) return;
      const result = await this.#parts.apply(partition.owner, records);
      if (result === 'halted') return result;
      if (result === 'fenced' && !(await this.#reclaim(partition, 'claimed'))) return;
    }
  }

  /** Returns whether the partition has an owner again; it has none if the log assigned it to another process. */
  async #reclaim(partition: Partition<O>, loss: ClaimLoss): Promise<boolean> {
    const { log, topic, alerts, claim, abandon, maxFencedAttempts, reclaimDelayMs } = this.#parts;
    const { number, owner: lost, isAssigned } = partition;
    abandon?.(lost);
    alerts.lost(number, loss, lost.position.offset);
    if (loss === 'claimed') {
      partition.refusals = lost.hasWritten ? 1 : partition.refusals + 1;
      if (partition.refusals === maxFencedAttempts)
        throw new Error(`partition ${number} of ${topic} was claimed by others ${maxFencedAttempts} times in a row`);
      // A process that was paused for long is refused before it learns that the partition was reassigned. Reclaiming at
      // once would fence the new owner.
      await delay(reclaimDelayMs * (0.5 + Math.random()));
    }
    if (!isAssigned() || !this.#isOurs(partition)) return false;
    partition.owner = await claim(number);
    const divergence = await findDivergence(log, topic, number, partition.owner.position);
    // The log compares positions on assignment only. End the process: the next one halts the partition.
    if (divergence !== undefined) throw new Error(describeDivergence(divergence));
    return true;
  }

  async #waitForRepair(partition: Partition<O> | undefined, divergence: Divergence): Promise<Position> {
    if (partition === undefined) return divergence.position;
    const { alerts, claim, verify, abandon } = this.#parts;
    const { number, owner, isAssigned } = partition;
    // The position was repaired while the log compared it, and the partition was claimed again. Nobody would replace
    // that claim.
    if (!isSamePosition(owner.position, divergence.position)) return owner.position;
    alerts.diverged(divergence);
    partition.isDiverged = true;
    try {
      const verifyOwner = async () => (await verify([owner]))[0]!;
      const isReplaced = await claimReplaced(verifyOwner, () => isAssigned() && this.#isOurs(partition));
      if (!isReplaced) return divergence.position;
      abandon?.(owner);
      partition.owner = await claim(number);
      partition.refusals = 0;
      return partition.owner.position;
    } finally {
      partition.isDiverged = false;
      alerts.noLongerDiverged(divergence);
    }
  }

  /** Returns whether the partition was not revoked since. */
  #isOurs(partition: Partition<O> | undefined): partition is Partition<O> {
    return partition !== undefined && this.#partitions.get(partition.number) === partition;
  }
}
