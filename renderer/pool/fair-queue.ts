/**
 * Jobs that wait, in the order in which they are to be worked on: each owner gets an equal share of the work, not of
 * the turns.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): whoever has had the least work comes next, and an owner that was
 * away saves nothing up. Among the jobs of one owner the cheapest comes first, but a job is overtaken so many times and
 * no more. Pure.
 */

export interface Queued {
  readonly owner: string;
  /** Of a processor, estimated. */
  readonly costMs: number;
}

/** So many cheaper jobs of its owner may be preferred to a job. */
const maxOvertakes = 8;
/** Owners that are remembered; those that have nothing waiting and no debt are forgotten first. */
const maxIdleOwners = 1_000;

interface Waiting<J> {
  readonly job: J;
  overtakes: number;
}

interface Owner<J> {
  readonly waiting: Waiting<J>[];
  servedMs: number;
}

export class FairQueue<J extends Queued> {
  private readonly owners = new Map<string, Owner<J>>();
  /** What the owner that was served last had had before. */
  private virtualMs = 0;

  push(job: J): void {
    const owner = this.ownerOf(job.owner);
    if (owner.waiting.length === 0) owner.servedMs = Math.max(owner.servedMs, this.virtualMs);
    owner.waiting.push({ job, overtakes: 0 });
  }

  /** Puts a job before all others of its owner. */
  pushFirst(job: J): void {
    this.ownerOf(job.owner).waiting.unshift({ job, overtakes: maxOvertakes });
  }

  /** Takes the next job that `fits`. A job that doesn't fit now keeps nothing else waiting. */
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

  /** Charges an owner what a job took beyond its estimate, or less. */
  correct(owner: string, differenceMs: number): void {
    this.ownerOf(owner).servedMs += differenceMs;
  }

  /** Takes a job out again, wherever it waits. */
  remove(isIt: (job: J) => boolean): J | undefined {
    for (const { waiting } of this.owners.values()) {
      const index = waiting.findIndex(({ job }) => isIt(job));
      if (index >= 0) return waiting.splice(index, 1)[0]?.job;
    }
    return undefined;
  }

  /** Takes out the job of an owner that came last. */
  removeNewest(owner: string): J | undefined {
    return this.owners.get(owner)?.waiting.pop()?.job;
  }

  /** Takes out all. */
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

/** The index of the first job where it has been overtaken often enough, else of the cheapest one. */
function choose<J extends Queued>(waiting: readonly Waiting<J>[], fits: (job: J) => boolean): number {
  let best = -1;
  for (const [index, { job, overtakes }] of waiting.entries()) {
    if (!fits(job)) continue;
    if (overtakes >= maxOvertakes) return index;
    if (best < 0 || job.costMs < waiting[best]!.job.costMs) best = index;
  }
  return best;
}
