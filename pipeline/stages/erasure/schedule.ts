/** When the passes of erasures are due, and which erasures share a pass. Pure: callers give the time, epoch ms. */
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { Scope } from '../../catalog/types.js';

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
  readonly keepMs: number;
}

/** Erasures of one project and environment, which the same statements erase. */
export interface Batch extends Scope {
  readonly records: readonly ErasureRecord[];
}

const maxErasuresPerPass = 50;
/** Forgotten plans of erasures that are gone. */
const maxStalePlans = 1_000;

/** Returns whether an erasure is that of an environment of a deleted project. */
export const isWhole = ({ subject }: ErasureRecord): boolean => subject === 'project';

export class ErasureSchedule {
  readonly #timing: ScheduleTiming;
  /** When the next pass of an erasure is due, epoch ms. */
  readonly #plans = new Map<string, number>();
  /** How often in a row the passes of an erasure failed. */
  readonly #failures = new Map<string, number>();

  constructor(timing: ScheduleTiming) {
    this.#timing = timing;
  }

  due(all: readonly ErasureRecord[], nowMs: number): ErasureRecord[] {
    if (this.#plans.size > all.length + maxStalePlans) {
      this.#plans.clear();
      this.#failures.clear();
    }
    return all.filter(({ _id }) => (this.#plans.get(_id) ?? 0) <= nowMs);
  }

  /** Groups by scope what the same statements can erase. What failed is alone, so that it does not fail others. */
  nextBatch(due: readonly ErasureRecord[]): Batch | undefined {
    const [first] = due;
    if (first === undefined) return undefined;
    const { project, environment } = first;
    if (this.#failures.has(first._id)) return { project, environment, records: [first] };
    const ofScope = due.filter(
      (each) => each.project === project && each.environment === environment && !this.#failures.has(each._id),
    );
    const whole = ofScope.filter(isWhole);
    return { project, environment, records: (whole.length > 0 ? whole : ofScope).slice(0, maxErasuresPerPass) };
  }

  /** Returns whether nothing that was received before the erasure can still be on its way to a topic. */
  isLastPass({ createdAt, completedAt }: ErasureRecord, nowMs: number): boolean {
    return completedAt === null && nowMs >= createdAt + this.#timing.graceMs;
  }

  /** An erasure that never completed is kept, or its user would stay without anybody knowing. */
  isForgotten({ createdAt, completedAt }: ErasureRecord, nowMs: number): boolean {
    return completedAt !== null && nowMs > createdAt + this.#timing.keepMs;
  }

  /** Plans the pass that follows one. `isCompleted`: it completed the erasure. */
  planNext({ _id, createdAt, completedAt }: ErasureRecord, isCompleted: boolean, nowMs: number): void {
    const { intervalMs, graceMs, recheckMs } = this.#timing;
    const isDone = isCompleted || completedAt !== null;
    this.#plans.set(_id, isDone ? nowMs + recheckMs : Math.max(createdAt + graceMs, nowMs + intervalMs));
  }

  /** Plans the repetition of a pass that failed. */
  planRetry({ _id, createdAt }: ErasureRecord, nowMs: number): void {
    const { graceMs, retryMs, maxRetryMs } = this.#timing;
    const count = (this.#failures.get(_id) ?? 0) + 1;
    this.#failures.set(_id, count);
    this.#plans.set(_id, Math.max(nowMs + Math.min(retryMs * 2 ** (count - 1), maxRetryMs), createdAt + graceMs));
  }

  forgetFailures({ _id }: ErasureRecord): void {
    this.#failures.delete(_id);
  }
}
