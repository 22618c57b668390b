/** One webhook as the dispatcher works on it: what waits for it in every source, and what is on its way. */
import type { Scope } from '../../catalog/types.js';
import type { Lane } from './endpoint-queue.js';
import { type Condition, isTrusted } from './health.js';
import type { HeldDelivery, Source } from './source.js';

/** A delivery on its way, and the lane to settle it with. */
export interface TakenDelivery {
  readonly lane: Lane;
  readonly held: HeldDelivery;
}

export class Endpoint {
  readonly id: string;
  readonly lanes = new Map<Source, Lane>();
  /** Order keys of what is on its way. */
  readonly busyKeys = new Set<string>();
  inFlight = 0;
  /** Known from the first delivery that is seen. */
  scope: Scope | undefined;
  /** Undefined until it has been read. */
  condition: Condition | undefined;
  /** When `timer` wakes it, epoch ms. */
  wakesAtMs = Number.POSITIVE_INFINITY;
  timer: unknown;

  constructor(id: string) {
    this.id = id;
  }

  get isTrusted(): boolean {
    return this.condition !== undefined && isTrusted(this.condition);
  }

  /** Is nothing there to be done, now or later? */
  get isIdle(): boolean {
    if (this.inFlight > 0) return false;
    for (const lane of this.lanes.values()) if (!lane.isEmpty) return false;
    return true;
  }

  /** Epoch ms of the first that is due on disk; Infinity where nothing is. */
  get restDueAtMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { restDueAtMs } of this.lanes.values()) earliestMs = Math.min(earliestMs, restDueAtMs);
    return earliestMs;
  }

  /** The next that may be sent; the lanes take turns. */
  take(): TakenDelivery | undefined {
    for (const [source, lane] of this.lanes) {
      const held = lane.take(this.busyKeys);
      if (held === undefined) continue;
      this.lanes.delete(source);
      this.lanes.set(source, lane);
      return { lane, held };
    }
    return undefined;
  }

  /** Leaves all but the first `keep` of each lane to the disk. */
  release(keep: number): void {
    for (const lane of this.lanes.values()) lane.release(keep);
  }

  /** Has nothing more to do with the source. */
  leave(source: Source): void {
    this.lanes.get(source)?.abandon();
    this.lanes.delete(source);
  }
}
