/** When the passes of erasures are due, and which erasures share a pass. Pure: callers give the time, epoch ms. */
import { hasElapsed } from '../../../schemas/durations.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import { isSameScope } from '../../catalog/scope.js';
import type { Scope } from '../../catalog/types.js';

/** The delays between the passes of one erasure. */
export interface ScheduleTiming {
  /** How often new erasures are looked for. */
  readonly intervalMs: number;
  /** Longer than an accepted location takes to reach its topic, and than nodes' clocks differ. */
  readonly graceMs: number;
  /** How often the rows of completed erasures are looked for again. */
  readonly recheckMs: number;
  /** Delay after the first failure of a pass. It doubles with each further one, up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** Longest retention of a topic from which rows are written. The name of the user is kept for the same time. */
  readonly retentionMs: number;
}

/** Erasures of one project and environment, which the same statements erase. */
export interface Batch extends Scope {
  readonly records: readonly ErasureRecord[];
}

interface Plan {
  /** Epoch ms. */
  readonly madeAtMs: number;
  readonly delayMs: number;
}

const maxErasuresPerPass = 50;
/** Forgotten plans of erasures that are gone. */
const maxStalePlans = 1_000;

/** Returns whether an erasure is that of an environment of a deleted project. */
export const isWhole = ({ subject }: ErasureRecord): boolean => subject === 'project';

/** Remembers when the next pass of each erasure is due. In memory only: after a restart all are due at once. */
export class ErasureSchedule {
  readonly #timing: ScheduleTiming;
  /** When the next pass of an erasure is due. */
  readonly #plans = new Map<string, Plan>();
  /** When the grace of an erasure began, epoch ms. */
  readonly #starts = new Map<string, number>();
  /** How often in a row the passes of an erasure failed. */
  readonly #failures = new Map<string, number>();

  constructor(timing: ScheduleTiming) {
    this.#timing = timing;
  }

  /** Returns the erasures whose next pass is due. One without a plan is due at once. */
  due(all: readonly ErasureRecord[], nowMs: number): ErasureRecord[] {
    if (this.#plans.size > all.length + maxStalePlans) {
      this.#plans.clear();
      this.#starts.clear();
      this.#failures.clear();
    }
    return all.filter(({ _id }) => {
      const plan = this.#plans.get(_id);
      return plan === undefined || hasElapsed(plan.delayMs, plan.madeAtMs, nowMs);
    });
  }

  /** Groups by scope what the same statements can erase. What failed is alone, so that it does not fail others. */
  nextBatch(due: readonly ErasureRecord[]): Batch | undefined {
    const [first] = due;
    if (first === undefined) return undefined;
    const { project, environment } = first;
    if (this.#failures.has(first._id)) return { project, environment, records: [first] };
    const ofScope = due.filter((each) => isSameScope(each, first) && !this.#failures.has(each._id));
    const whole = ofScope.filter(isWhole);
    return { project, environment, records: (whole.length > 0 ? whole : ofScope).slice(0, maxErasuresPerPass) };
  }

  /** Returns whether nothing that was received before the erasure can still be on its way to a topic. */
  isLastPass(record: ErasureRecord, nowMs: number): boolean {
    return record.completedAt === null && nowMs >= this.#graceEnd(record, nowMs);
  }

  /**
   * Returns whether the record of a completed erasure may be deleted. One that never completed is kept, or its user
   * would stay without anybody knowing.
   */
  isForgotten({ createdAt, completedAt }: ErasureRecord, nowMs: number): boolean {
    return completedAt !== null && nowMs > createdAt + this.#timing.retentionMs;
  }

  /** Plans the pass that follows one. `isCompleted`: it completed the erasure. */
  planNext(record: ErasureRecord, isCompleted: boolean, nowMs: number): void {
    const { intervalMs, recheckMs } = this.#timing;
    const isDone = isCompleted || record.completedAt !== null;
    const delayMs = isDone ? recheckMs : Math.max(this.#graceEnd(record, nowMs) - nowMs, intervalMs);
    this.#plans.set(record._id, { madeAtMs: nowMs, delayMs });
  }

  /** Plans no further pass in this process. */
  planNone({ _id }: ErasureRecord, nowMs: number): void {
    this.#plans.set(_id, { madeAtMs: nowMs, delayMs: Number.POSITIVE_INFINITY });
  }

  /** Plans the repetition of a pass that failed. */
  planRetry(record: ErasureRecord, nowMs: number): void {
    const { retryMs, maxRetryMs } = this.#timing;
    const count = (this.#failures.get(record._id) ?? 0) + 1;
    this.#failures.set(record._id, count);
    const retryDelayMs = Math.min(retryMs * 2 ** (count - 1), maxRetryMs);
    const delayMs = Math.max(retryDelayMs, this.#graceEnd(record, nowMs) - nowMs);
    this.#plans.set(record._id, { madeAtMs: nowMs, delayMs });
  }

  /** An erasure of a clock that is set back afterwards begins its grace again, or it would wait for as long. */
  #graceEnd({ _id, createdAt }: ErasureRecord, nowMs: number): number {
    const start = Math.min(this.#starts.get(_id) ?? createdAt, nowMs);
    this.#starts.set(_id, start);
    return start + this.#timing.graceMs;
  }

  /** Ends the row of failures, which delays each next pass longer. */
  forgetFailures({ _id }: ErasureRecord): void {
    this.#failures.delete(_id);
  }
}
