/**
 * What waits for one webhook in one source: the first of it in memory, the rest on disk.
 *
 * The lane knows of every delivery in its queue that it is in hand (in the window, on its way, or ended and not written
 * yet), or that it is not due before `restDueAtMs`. So none is forgotten, and none is taken twice, in whatever order
 * reads and writes of the queue come to pass.
 */
import type { Codec } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import type { WaitingDelivery } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import type { HeldDelivery, Source } from './source.js';

/** Deliveries in the windows of all lanes. */
export interface WindowBudget {
  held: number;
}

export interface LaneParts {
  readonly source: Source;
  readonly webhook: string;
  readonly codec: Codec<Delivery>;
  readonly budget: WindowBudget;
  readonly metrics: Metrics;
}

export class Lane {
  readonly source: Source;
  readonly #parts: LaneParts;
  /** Due, by place. */
  readonly #window: HeldDelivery[] = [];
  /** Sequences of what is in hand. */
  readonly #inHand = new Set<number>();
  /** Deliveries from this sequence on are still to be offered. */
  #nextOffered: number;
  /** Epoch ms. */
  #restDueAtMs: number;
  #isLoading = false;
  #isAbandoned = false;
  /** Sequences of what was settled during a read of the queue, which may still show it as it was. */
  #settledMeanwhile: number[] = [];

  constructor(parts: LaneParts, restDueAtMs: number) {
    this.source = parts.source;
    this.#parts = parts;
    this.#restDueAtMs = restDueAtMs;
    this.#nextOffered = parts.source.nextSequence;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Epoch ms before which nothing of what is on disk only is due; Infinity where there is nothing. */
  get restDueAtMs(): number {
    return this.#restDueAtMs;
  }

  get isEmpty(): boolean {
    return this.#inHand.size === 0 && !this.#isLoading && this.#restDueAtMs === Number.POSITIVE_INFINITY;
  }

  hasRoom(maxWindow: number): boolean {
    return this.#window.length < maxWindow;
  }

  /**
   * Takes in a delivery that was just queued: into the window when it is its turn and there is room, else it is read
   * later.
   */
  offer(held: HeldDelivery, maxWindow: number): void {
    this.#nextOffered = Math.max(this.#nextOffered, held.place.sequence + 1);
    // A read may have come across it between its being queued and this.
    if (this.#inHand.has(held.place.sequence)) return;
    const isItsTurn = !this.#isLoading && this.#restDueAtMs > held.place.dueAtMs;
    if (isItsTurn && this.hasRoom(maxWindow)) this.#hold(held);
    else this.#leave(held.place.dueAtMs);
  }

  /** The first of the window whose order key is free. It stays in hand until it is settled. */
  take(busyKeys: ReadonlySet<string>): HeldDelivery | undefined {
    const index = this.#window.findIndex(({ delivery }) => !busyKeys.has(delivery.orderKey));
    return index < 0 ? undefined : this.#takeOut(index, 1)[0];
  }

  /** Those of the window that have been waiting since then or longer. They stay in hand until they are settled. */
  takeCreatedBefore(epochMs: number): HeldDelivery[] {
    const taken: HeldDelivery[] = [];
    for (let index = this.#window.length - 1; index >= 0; index--) {
      if ((this.#window[index] as HeldDelivery).delivery.createdAt <= epochMs) taken.push(...this.#takeOut(index, 1));
    }
    return taken;
  }

  /** Leaves all but the first `keep` of the window to the disk. */
  release(keep: number): void {
    for (const { place } of this.#takeOut(keep, this.#window.length)) {
      this.#inHand.delete(place.sequence);
      this.#leave(place.dueAtMs);
    }
  }

  /** Holds nothing from now on: the source has gone to another. */
  abandon(): void {
    this.#isAbandoned = true;
    this.release(0);
  }

  /** The outcome is written: gone from the queue, or due again. */
  settled({ place }: HeldDelivery, nextDueAtMs: number | null): void {
    if (this.#isLoading) this.#settledMeanwhile.push(place.sequence);
    else this.#inHand.delete(place.sequence);
    if (nextDueAtMs !== null) this.#leave(nextDueAtMs);
  }

  /** Fills the window from disk with what is due. Not to be called while loading. */
  async load(maxWindow: number, nowMs: number): Promise<void> {
    this.#isLoading = true;
    // What is queued from here on may or may not be read: it is left as due anyway.
    this.#restDueAtMs = Number.POSITIVE_INFINITY;
    const limit = maxWindow + this.#inHand.size;
    const found = await this.source.waiting(this.#parts.webhook, limit);
    const due = found.filter(({ dueAtMs }) => dueAtMs <= nowMs).map((waiting) => this.#heldOf(waiting));
    const isReplaced = await this.#replacedOf(due);
    // From here to the end of the turn nothing else happens to the lane: a release in between would put later
    // deliveries before earlier ones.
    this.#isLoading = false;
    const replaced = this.#fill(found, due, isReplaced, maxWindow);
    const last = found.at(-1);
    if (last !== undefined && found.length === limit) this.#leave(last.dueAtMs);
    for (const sequence of this.#settledMeanwhile.splice(0)) this.#inHand.delete(sequence);
    if (replaced.length > 0) await this.#remove(replaced);
  }

  #heldOf({ value, attempts, ...place }: WaitingDelivery): HeldDelivery {
    const delivery = this.#parts.codec.decode(value);
    return { place, attempts, delivery, sinceMs: delivery.createdAt };
  }

  /** Reads which deliveries were asked for again since they were created. */
  async #replacedOf(due: readonly HeldDelivery[]): Promise<(held: HeldDelivery) => boolean> {
    const ids = due.map(({ delivery }) => delivery.id);
    const times = await this.source.replacedAt(this.#parts.webhook, ids);
    const replacedAt = new Map(ids.map((id, index) => [id, times[index]] as const));
    // One that is still to be offered is too young to have been replaced, and its offer would bring it back.
    return ({ delivery, place }) =>
      (replacedAt.get(delivery.id) ?? 0) > delivery.createdAt && place.sequence < this.#nextOffered;
  }

  /**
   * Puts what is due into the window, as far as there is room, and leaves the rest. Answers the replaced ones, which
   * are in hand then.
   */
  #fill(
    found: readonly WaitingDelivery[],
    due: readonly HeldDelivery[],
    isReplaced: (held: HeldDelivery) => boolean,
    maxWindow: number,
  ): HeldDelivery[] {
    const replaced: HeldDelivery[] = [];
    for (const [index, { sequence, dueAtMs }] of found.entries()) {
      if (this.#inHand.has(sequence)) continue;
      const held = due[index];
      if (held === undefined || !this.hasRoom(maxWindow)) {
        this.#leave(dueAtMs);
        break;
      }
      if (isReplaced(held)) {
        this.#inHand.add(sequence);
        replaced.push(held);
      } else this.#hold(held);
    }
    return replaced;
  }

  /** Removes deliveries from the queue unsent. */
  async #remove(replaced: readonly HeldDelivery[]): Promise<void> {
    if (!(await this.source.settle(replaced.map(({ place }) => ({ place, next: null }))))) return;
    this.#parts.metrics.add('webhook_deliveries_replaced_total', replaced.length);
    for (const held of replaced) this.settled(held, null);
  }

  #hold(held: HeldDelivery): void {
    if (this.#isAbandoned) return;
    this.#window.push(held);
    this.#inHand.add(held.place.sequence);
    this.#parts.budget.held += 1;
  }

  #takeOut(index: number, count: number): HeldDelivery[] {
    const removed = this.#window.splice(index, count);
    this.#parts.budget.held -= removed.length;
    return removed;
  }

  #leave(dueAtMs: number): void {
    this.#restDueAtMs = Math.min(this.#restDueAtMs, dueAtMs);
  }
}
