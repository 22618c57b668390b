/**
 * The right to one partition's deliveries, and what this process has of them in hand.
 *
 * Whoever claims the partition later takes the right away: from the first refusal on nothing is written any more, and
 * the partition must be claimed again.
 */
import type { Delivery } from '../../../schemas/records.js';
import type {
  CommitResult,
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Position,
  Settlement,
  WaitingDelivery,
} from '../../ports.js';

/** A delivery to be queued. */
export interface MadeDelivery {
  readonly delivery: Delivery;
  /** Encoded. */
  readonly value: Buffer;
  /** Epoch ms of the append of what it was made of. */
  readonly sinceMs: number;
}

/** A queued delivery in memory. */
export interface HeldDelivery {
  readonly place: DeliveryPlace;
  /** Tries so far. */
  readonly attempts: number;
  readonly delivery: Delivery;
  readonly sinceMs: number;
}

/** A clock that is set back by less must not turn the order of first tries around. */
const maxClockStepMs = 5_000;

export class Source {
  readonly #queue: DeliveryQueue;
  readonly #claim: DeliveryClaim;
  /** Of the next record to make deliveries of. */
  #nextOffset: number;
  /** Of the last record before it. */
  #mark: string | null;
  /** The position that the queue holds; behind by records that nobody wants. */
  #savedOffset: number;
  /** Claims in a row that were lost before anything was written, this one excepted. */
  readonly refusals: number;
  #hasWritten = false;
  #isOurs = true;
  #nextSequence: number;
  #latestDueAtMs = 0;
  #inHand = 0;
  #onDrained: () => void = () => {};
  readonly #onRefused: (source: Source) => void;

  constructor(queue: DeliveryQueue, claim: DeliveryClaim, refusals: number, onRefused: (source: Source) => void) {
    this.#queue = queue;
    this.#claim = claim;
    this.#nextOffset = claim.nextOffset;
    this.#mark = claim.mark;
    this.#savedOffset = claim.nextOffset;
    this.#nextSequence = claim.nextSequence;
    this.refusals = refusals;
    this.#onRefused = onRefused;
  }

  get id(): DeliverySource {
    return this.#claim.source;
  }

  /** Offset of the next record to make deliveries of. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Sequence of the next delivery that is added. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** After the last record that deliveries were made of. */
  get position(): Position {
    return { offset: this.#nextOffset, mark: this.#mark };
  }

  /** For the queue to verify. */
  get claim(): DeliveryClaim {
    return this.#claim;
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** False once another owner is known of, or the partition was let go. */
  get isOurs(): boolean {
    return this.#isOurs;
  }

  letGo(): void {
    this.#isOurs = false;
  }

  /** Queues them together with the position after them. Undefined when refused. */
  async add(
    made: readonly MadeDelivery[],
    { offset: nextOffset, mark }: Position,
    nowMs: number,
  ): Promise<HeldDelivery[] | undefined> {
    const dueAtMs = this.#dueAt(nowMs);
    const result = await this.#queue.add(this.#claim, {
      expectedOffset: this.#savedOffset,
      nextOffset,
      mark,
      deliveries: made.map(({ delivery: { webhook }, value }) => ({ webhook, dueAtMs, value })),
    });
    if (!this.#heard(result)) return undefined;
    const sequence = this.#nextSequence;
    this.#nextOffset = nextOffset;
    this.#mark = mark;
    this.#savedOffset = nextOffset;
    this.#nextSequence += made.length;
    return made.map(({ delivery, sinceMs }, index) => ({
      place: { webhook: delivery.webhook, dueAtMs, sequence: sequence + index },
      attempts: 0,
      delivery,
      sinceMs,
    }));
  }

  /** Nothing is made of the records before the position; for the time being, only this process knows. */
  pass({ offset, mark }: Position): void {
    this.#nextOffset = offset;
    this.#mark = mark;
  }

  /** Answers false when refused. */
  async savePosition(nowMs: number): Promise<boolean> {
    return this.#savedOffset === this.#nextOffset || (await this.add([], this.position, nowMs)) !== undefined;
  }

  waiting(webhook: string, limit: number): Promise<readonly WaitingDelivery[]> {
    return this.#queue.waiting(this.id, webhook, limit);
  }

  /** Reads when each delivery of the webhook was last asked for again. Epoch ms. */
  replacedAt(webhook: string, deliveries: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#queue.replacedAt(webhook, deliveries);
  }

  /** Answers whether it was written. */
  async settle(settlements: readonly Settlement[]): Promise<boolean> {
    return this.#isOurs && this.#heard(await this.#queue.settle(this.#claim, settlements));
  }

  async drop(webhook: string): Promise<void> {
    if (this.#isOurs) this.#heard(await this.#queue.drop(this.#claim, webhook));
  }

  /** Something of this source has begun that will be written. */
  begin(): void {
    this.#inHand += 1;
  }

  end(count = 1): void {
    this.#inHand -= count;
    if (this.#inHand === 0) this.#onDrained();
  }

  /** Resolves when nothing is in hand. */
  async drained(): Promise<void> {
    if (this.#inHand > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve));
  }

  #heard(result: CommitResult): boolean {
    if (result === 'committed') {
      this.#hasWritten = true;
      return true;
    }
    if (this.#isOurs) {
      this.#isOurs = false;
      this.#onRefused(this);
    }
    return false;
  }

  #dueAt(nowMs: number): number {
    const isSetBack = nowMs < this.#latestDueAtMs && nowMs > this.#latestDueAtMs - maxClockStepMs;
    if (!isSetBack) this.#latestDueAtMs = nowMs;
    return this.#latestDueAtMs;
  }
}
