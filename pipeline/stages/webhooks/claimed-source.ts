/**
 * A claim on one partition's deliveries, and the deliveries of it that this process has loaded.
 *
 * A later claim by another process fences this one: after the first refusal nothing more is written, and the partition
 * must be claimed again.
 */
import { Condition } from '../../../schemas/condition.js';
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
import { type PartialPosition, type Queued, storedMarkOf, storedPosition } from './partial-position.js';

/** A delivery that is not queued yet. */
export interface NewDelivery {
  readonly delivery: Delivery;
  /** Encoded. */
  readonly value: Buffer;
  /** Epoch ms at which its event was appended. */
  readonly appendedAtMs: number;
}

/** A queued delivery that is loaded into memory. */
export interface LoadedDelivery {
  readonly place: DeliveryPlace;
  /** Attempts so far. */
  readonly attempts: number;
  readonly delivery: Delivery;
  readonly appendedAtMs: number;
}

/** The deliveries of one partition that this process has claimed. */
export class ClaimedSource {
  readonly #queue: DeliveryQueue;
  readonly #claim: DeliveryClaim;
  /** Offset of the next record to make deliveries of. */
  #nextOffset: number;
  /** Mark of the last record before `#nextOffset`. */
  #mark: string | null;
  /** Deliveries of records from `#nextOffset` on that are queued. */
  #queued: Queued | null;
  /** Offset that the queue holds; behind `#nextOffset` by events that no webhook wants. */
  #savedOffset: number;
  #hasWritten = false;
  /** False once another owner is known, or the partition was released. */
  #isOwned = true;
  #nextSequence: number;
  #unacknowledged = 0;
  readonly #drained = new Condition();
  readonly #onRefused: () => void;

  /** `onRefused` is called once, when a write shows that the claim is lost. */
  constructor(queue: DeliveryQueue, claim: DeliveryClaim, onRefused: () => void) {
    this.#queue = queue;
    this.#claim = claim;
    const { mark, queued } = storedPosition(claim.nextOffset, claim.mark);
    this.#nextOffset = claim.nextOffset;
    this.#mark = mark;
    this.#queued = queued;
    this.#savedOffset = claim.nextOffset;
    this.#nextSequence = claim.nextSequence;
    this.#onRefused = onRefused;
  }

  /** Returns the partition that was claimed. */
  get id(): DeliverySource {
    return this.#claim.source;
  }

  /** Offset of the next record to make deliveries of. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Sequence of the next delivery to add. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** Position after the last record that deliveries were made of. */
  get position(): Position {
    return { offset: this.#nextOffset, mark: this.#mark };
  }

  /** Deliveries of the next records that are queued already. */
  get queued(): Queued | null {
    return this.#queued;
  }

  /** The claim, which the queue verifies. */
  get claim(): DeliveryClaim {
    return this.#claim;
  }

  /** Returns whether the queue has accepted a write of this claim. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Writes nothing more, because another process gets the partition. */
  release(): void {
    this.#isOwned = false;
  }

  /**
   * Queues the deliveries together with the position after them. `dueAtMs` is by the steady clock. Returns undefined
   * when fenced.
   */
  async add(
    made: readonly NewDelivery[],
    position: PartialPosition,
    dueAtMs: number,
  ): Promise<LoadedDelivery[] | undefined> {
    const result = await this.#queue.add(this.#claim, {
      expectedOffset: this.#savedOffset,
      nextOffset: position.offset,
      mark: storedMarkOf(position),
      deliveries: made.map(({ delivery: { webhook }, value }) => ({ webhook, dueAtMs, value })),
    });
    if (!this.#isWritten(result)) return undefined;
    const sequence = this.#nextSequence;
    this.pass(position);
    this.#savedOffset = position.offset;
    this.#nextSequence += made.length;
    return made.map(({ delivery, appendedAtMs }, index) => ({
      place: { webhook: delivery.webhook, dueAtMs, sequence: sequence + index },
      attempts: 0,
      delivery,
      appendedAtMs,
    }));
  }

  /** Advances the position past records without deliveries, in memory only. */
  pass({ offset, mark, queued }: PartialPosition): void {
    this.#nextOffset = offset;
    this.#mark = mark;
    this.#queued = queued;
  }

  /** Writes the position. Returns false when fenced. */
  async savePosition(nowMs: number): Promise<boolean> {
    return (
      this.#savedOffset === this.#nextOffset ||
      (await this.add([], { ...this.position, queued: this.#queued }, nowMs)) !== undefined
    );
  }

  /** Returns the first waiting deliveries of a webhook, at most `limit`. */
  waiting(webhook: string, limit: number): Promise<readonly WaitingDelivery[]> {
    return this.#queue.waiting(this.id, webhook, limit);
  }

  /** Reads when a redelivery of each delivery was last requested. Epoch ms. */
  replacedAt(webhook: string, deliveries: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#queue.replacedAt(webhook, deliveries);
  }

  /** Acknowledges deliveries. Returns whether the acknowledgements were written. */
  async acknowledge(settlements: readonly Settlement[]): Promise<boolean> {
    return this.#isOwned && this.#isWritten(await this.#queue.settle(this.#claim, settlements));
  }

  /** Drops the waiting deliveries of a deleted webhook. */
  async drop(webhook: string): Promise<void> {
    if (this.#isOwned) this.#isWritten(await this.#queue.drop(this.#claim, webhook));
  }

  /** Counts a delivery that will be acknowledged. */
  begin(): void {
    this.#unacknowledged += 1;
  }

  /** Counts deliveries as acknowledged or dropped. */
  end(count = 1): void {
    this.#unacknowledged -= count;
    if (this.#unacknowledged === 0) this.#drained.notifyAll();
  }

  /** Resolves when every delivery is acknowledged. */
  async drained(): Promise<void> {
    while (this.#unacknowledged > 0) await this.#drained.wait();
  }

  #isWritten(result: CommitResult): boolean {
    if (result === 'committed') {
      this.#hasWritten = true;
      return true;
    }
    if (this.#isOwned) {
      this.#isOwned = false;
      this.#onRefused();
    }
    return false;
  }
}
