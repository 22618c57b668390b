/**
 * The deliveries of one webhook from one source: the first of them loaded into memory (the window), the rest on disk.
 *
 * Every delivery is either unacknowledged (in the window, in flight, or ended but not written yet) or not due before
 * `storedDueAtMs`. So none is lost and none is taken twice, however reads and writes of the queue interleave.
 */
import type { Codec } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import type { WaitingDelivery } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import type { ClaimedSource, LoadedDelivery } from './claimed-source.js';
import type { LoadedDeliveries } from './loaded-deliveries.js';

interface EndpointQueueParts {
  readonly source: ClaimedSource;
  readonly webhook: string;
  readonly codec: Codec<Delivery>;
  readonly loaded: LoadedDeliveries;
  readonly metrics: Metrics;
}

/** The deliveries of one webhook from one source. */
export class EndpointQueue {
  readonly source: ClaimedSource;
  readonly #parts: EndpointQueueParts;
  /** Loaded deliveries that are due, in order of their places. */
  readonly #window: LoadedDelivery[] = [];
  /** Sequences of unacknowledged deliveries. */
  readonly #unacknowledged = new Set<number>();
  /** Sequence of the next delivery to be offered. */
  #nextOffered: number;
  /** Time by the steady clock at which the first delivery on disk is due. */
  #storedDueAtMs: number;
  #isLoading = false;
  #isAbandoned = false;
  /** Sequences acknowledged during a read of the queue, which may still show them. */
  #acknowledgedWhileLoading: number[] = [];

  constructor(parts: EndpointQueueParts, storedDueAtMs: number) {
    this.source = parts.source;
    this.#parts = parts;
    this.#storedDueAtMs = storedDueAtMs;
    this.#nextOffered = parts.source.nextSequence;
  }

  /** Returns whether deliveries are being read from the queue. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Time by the steady clock before which no delivery on disk is due; Infinity without one. */
  get storedDueAtMs(): number {
    return this.#storedDueAtMs;
  }

  /** Returns whether there is nothing to send, now or later. */
  get isEmpty(): boolean {
    return this.#unacknowledged.size === 0 && !this.#isLoading && this.#storedDueAtMs === Number.POSITIVE_INFINITY;
  }

  /** Returns whether the window has fewer than `maxWindow` deliveries. */
  hasRoom(maxWindow: number): boolean {
    return this.#window.length < maxWindow;
  }

  /**
   * Accepts a delivery that was just queued: into the window if it is next and there is space; else it is loaded from
   * disk later.
   */
  offer(loaded: LoadedDelivery, maxWindow: number): void {
    this.#nextOffered = Math.max(this.#nextOffered, loaded.place.sequence + 1);
    // A read may have found it after it was queued and before it was offered.
    if (this.#unacknowledged.has(loaded.place.sequence)) return;
    const isNext = !this.#isLoading && this.#storedDueAtMs > loaded.place.dueAtMs;
    const { project } = loaded.delivery;
    if (isNext && this.hasRoom(maxWindow) && this.#parts.loaded.hasRoom(project)) this.#addToWindow(loaded);
    else this.#leaveOnDisk(loaded.place.dueAtMs);
  }

  /** Takes the first delivery of the window whose order key is free. It stays unacknowledged. */
  take(busyKeys: ReadonlySet<string>): LoadedDelivery | undefined {
    const index = this.#window.findIndex(({ delivery }) => !busyKeys.has(delivery.orderKey));
    return index < 0 ? undefined : this.#removeFromWindow(index, 1)[0];
  }

  /** Takes the deliveries of the window that were created up to a time. They stay unacknowledged. */
  takeCreatedBefore(epochMs: number): LoadedDelivery[] {
    const taken: LoadedDelivery[] = [];
    for (let index = this.#window.length - 1; index >= 0; index--) {
      if ((this.#window[index] as LoadedDelivery).delivery.createdAt <= epochMs)
        taken.push(...this.#removeFromWindow(index, 1));
    }
    return taken;
  }

  /** Unloads all but the first `keep` deliveries of the window; they remain on disk. */
  release(keep: number): void {
    for (const { place } of this.#removeFromWindow(keep, this.#window.length)) {
      this.#unacknowledged.delete(place.sequence);
      this.#leaveOnDisk(place.dueAtMs);
    }
  }

  /** Loads nothing from now on: the source has another owner. */
  abandon(): void {
    this.#isAbandoned = true;
    this.release(0);
  }

  /** Records that the acknowledgement is written: the delivery is gone from the stored queue, or due again. */
  acknowledged({ place }: LoadedDelivery, nextDueAtMs: number | null): void {
    if (this.#isLoading) this.#acknowledgedWhileLoading.push(place.sequence);
    else this.#unacknowledged.delete(place.sequence);
    if (nextDueAtMs !== null) this.#leaveOnDisk(nextDueAtMs);
  }

  /** Fills the window with due deliveries from disk, at least one. Must not be called while loading. */
  async load(maxWindow: number, nowMs: number): Promise<void> {
    this.#isLoading = true;
    // A delivery queued from here on may or may not be read; its offer counts it as due on disk in any case.
    this.#storedDueAtMs = Number.POSITIVE_INFINITY;
    const limit = maxWindow + this.#unacknowledged.size;
    const found = await this.source.waiting(this.#parts.webhook, limit);
    const due = found.filter(({ dueAtMs }) => dueAtMs <= nowMs).map((waiting) => this.#decode(waiting));
    const isReplaced = await this.#replacedOf(due);
    // Must stay synchronous to the end of the turn: a release in between would put later deliveries before earlier
    // ones.
    this.#isLoading = false;
    const replaced = this.#fill(found, due, isReplaced, maxWindow);
    const last = found.at(-1);
    if (last !== undefined && found.length === limit) this.#leaveOnDisk(last.dueAtMs);
    for (const sequence of this.#acknowledgedWhileLoading.splice(0)) this.#unacknowledged.delete(sequence);
    if (replaced.length > 0) await this.#remove(replaced);
  }

  #decode({ value, attempts, ...place }: WaitingDelivery): LoadedDelivery {
    const delivery = this.#parts.codec.decode(value);
    return { place, attempts, delivery, appendedAtMs: delivery.createdAt };
  }

  /** Reads which deliveries were replaced by a redelivery since they were created. */
  async #replacedOf(due: readonly LoadedDelivery[]): Promise<(loaded: LoadedDelivery) => boolean> {
    const ids = due.map(({ delivery }) => delivery.id);
    const times = await this.source.replacedAt(this.#parts.webhook, ids);
    const replacedAt = new Map(ids.map((id, index) => [id, times[index]] as const));
    // A delivery that is not offered yet can't have been replaced, and its offer would restore it.
    return ({ delivery, place }) =>
      (replacedAt.get(delivery.id) ?? 0) > delivery.createdAt && place.sequence < this.#nextOffered;
  }

  /**
   * Adds due deliveries to the window while there is space. Returns the replaced ones, which are unacknowledged now.
   */
  #fill(
    found: readonly WaitingDelivery[],
    due: readonly LoadedDelivery[],
    isReplaced: (loaded: LoadedDelivery) => boolean,
    maxWindow: number,
  ): LoadedDelivery[] {
    const replaced: LoadedDelivery[] = [];
    for (const [index, { sequence, dueAtMs }] of found.entries()) {
      if (this.#unacknowledged.has(sequence)) continue;
      const loaded = due[index];
      if (loaded === undefined || !this.#mayAdd(loaded, maxWindow)) {
        this.#leaveOnDisk(dueAtMs);
        break;
      }
      if (isReplaced(loaded)) {
        this.#unacknowledged.add(sequence);
        replaced.push(loaded);
      } else this.#addToWindow(loaded);
    }
    return replaced;
  }

  #mayAdd({ delivery }: LoadedDelivery, maxWindow: number): boolean {
    return this.#window.length === 0 || (this.hasRoom(maxWindow) && this.#parts.loaded.hasRoom(delivery.project));
  }

  /** Removes replaced deliveries from the queue without sending them. */
  async #remove(replaced: readonly LoadedDelivery[]): Promise<void> {
    if (!(await this.source.acknowledge(replaced.map(({ place }) => ({ place, next: null }))))) return;
    this.#parts.metrics.add('webhook_deliveries_replaced_total', replaced.length);
    for (const loaded of replaced) this.acknowledged(loaded, null);
  }

  #addToWindow(loaded: LoadedDelivery): void {
    if (this.#isAbandoned) return;
    this.#window.push(loaded);
    this.#unacknowledged.add(loaded.place.sequence);
    this.#parts.loaded.add(loaded.delivery);
  }

  #removeFromWindow(index: number, count: number): LoadedDelivery[] {
    const removed = this.#window.splice(index, count);
    for (const { delivery } of removed) this.#parts.loaded.remove(delivery);
    return removed;
  }

  #leaveOnDisk(dueAtMs: number): void {
    this.#storedDueAtMs = Math.min(this.#storedDueAtMs, dueAtMs);
  }
}
