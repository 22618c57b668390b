/**
 * The queue of waiting jobs. Each owner gets an equal share of processor time, not of the number of jobs.
 *
 * The algorithm is start-time fair queueing (Goyal, Vin, Cheng 1996): the owner that has used the least time is next.
 * Idle owners save no time up, and debts end with the busy period. While a job waits, others start at most as much work
 * as its owner's previous job cost, plus one job. Among the jobs of one owner the cheapest is first, but cheaper jobs
 * overtake a job only a limited number of times. Pure.
 */

/** Work that waits. `owner` is the project that it is charged to. */
export interface Queued {
  readonly owner: string;
  /** Estimated processor time. */
  readonly costMs: number;
}

/** Maximum number of cheaper jobs of the same owner that may overtake a job. */
const maxOvertakes = 8;
/** Number of owners above which owners without waiting jobs and debt are removed. */
const maxIdleOwners = 1_000;

interface Waiting<J> {
  readonly job: J;
  overtakes: number;
}

interface Owner<J> {
  readonly waiting: Waiting<J>[];
  servedMs: number;
}

/** The jobs that wait for a process. */
export class FairQueue<J extends Queued> {
  private readonly owners = new Map<string, Owner<J>>();
  /** Virtual time: the start tag of the job that was taken last. */
  private virtualMs = 0;

  /** Adds a job. An owner that had none waiting starts at the present share of the others. */
  push(job: J): void {
    const owner = this.ownerOf(job.owner);
    if (owner.waiting.length === 0) owner.servedMs = Math.max(owner.servedMs, this.virtualMs);
    owner.waiting.push({ job, overtakes: 0 });
  }

  /**
   * Starts a busy period: no job waits or runs. Sets the virtual time to the latest finish tag, as the algorithm
   * requires. Time that an owner used while nobody else waited must not delay it later.
   */
  startBusyPeriod(): void {
    for (const { servedMs } of this.owners.values()) this.virtualMs = Math.max(this.virtualMs, servedMs);
  }

  /** Puts a job before all others of its owner. */
  pushFirst(job: J): void {
    this.ownerOf(job.owner).waiting.unshift({ job, overtakes: maxOvertakes });
  }

  /** Takes the next job that `fits`. A job that does not fit does not block others. */
  next(fits: (job: J) => boolean): J | undefined {
    const owners = [...this.owners.values()].filter(({ waiting }) => waiting.length > 0);
    for (const owner of owners.sort((a, b) => a.servedMs - b.servedMs)) {
      const index = choose(owner.waiting, fits);
      if (index < 0) continue;
      for (const overtaken of owner.waiting.slice(0, index)) overtaken.overtakes += 1;
      const [{ job }] = owner.waiting.splice(index, 1) as [Waiting<J>];
      this.virtualMs = Math.max(this.virtualMs, owner.servedMs);
      owner.servedMs += job.costMs;
      return job;
    }
    return undefined;
  }

  /** Charges an owner the difference between the measured and the estimated time of a job. */
  correct(owner: string, differenceMs: number): void {
    this.ownerOf(owner).servedMs += differenceMs;
  }

  /** Removes a job from any position. */
  remove(isIt: (job: J) => boolean): J | undefined {
    for (const { waiting } of this.owners.values()) {
      const index = waiting.findIndex(({ job }) => isIt(job));
      if (index >= 0) return waiting.splice(index, 1)[0]?.job;
    }
    return undefined;
  }

  /** Removes the newest job of an owner. */
  removeNewest(owner: string): J | undefined {
    return this.owners.get(owner)?.waiting.pop()?.job;
  }

  /** Removes all jobs. */
  drain(): J[] {
    return [...this.owners.values()].flatMap(({ waiting }) => waiting.splice(0).map(({ job }) => job));
  }

  private ownerOf(name: string): Owner<J> {
    let owner = this.owners.get(name);
    if (!owner) {
      if (this.owners.size >= maxIdleOwners) this.forgetIdle();
      owner = { waiting: [], servedMs: this.virtualMs };
      this.owners.set(name, owner);
    }
    return owner;
  }

  private forgetIdle(): void {
    for (const [name, { waiting, servedMs }] of this.owners) {
      if (waiting.length === 0 && servedMs <= this.virtualMs) this.owners.delete(name);
    }
  }
}

/** Returns the index of the first job that must not be overtaken again, or of the cheapest job. */
function choose<J extends Queued>(waiting: readonly Waiting<J>[], fits: (job: J) => boolean): number {
  let best = -1;
  for (const [index, { job, overtakes }] of waiting.entries()) {
    if (!fits(job)) continue;
    if (overtakes >= maxOvertakes) return index;
    if (best < 0 || job.costMs < waiting[best]!.job.costMs) best = index;
  }
  return best;
}
