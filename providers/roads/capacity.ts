/** Limits how many requests to an engine run and wait, and how long they take, and shares the engine among projects. */
import { ApiError } from '../../schemas/errors.js';
import { type Answer, refusal } from '../answer.js';

export interface CapacityLimits {
  readonly maxConcurrency: number;
  readonly maxWaitingPerProject: number;
  /** Limit of waiting and work together. */
  readonly timeoutMs: number;
}

/** Runs work of a project. The signal aborts at the time limit; the place is free again when the work has ended. */
export type Capacity = <T>(project: string, work: (signal: AbortSignal) => Promise<Answer<T>>) => Promise<Answer<T>>;

interface Waiting {
  readonly project: string;
  start(): void;
}

const overloaded = (what: string): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError('overloaded', `${what}; try again later`, { retryAfterS: 1 }),
});

/** Of the projects that wait, the one with the fewest running requests is next. */
export function createCapacity({ maxConcurrency, maxWaitingPerProject, timeoutMs }: CapacityLimits): Capacity {
  const running = new Map<string, number>();
  let waiting: Waiting[] = [];
  let total = 0;
  const runningOf = (project: string): number => running.get(project) ?? 0;

  function startNext(): void {
    if (total >= maxConcurrency || waiting.length === 0) return;
    const next = waiting.reduce((best, one) => (runningOf(one.project) < runningOf(best.project) ? one : best));
    waiting = waiting.filter((one) => one !== next);
    total++;
    running.set(next.project, runningOf(next.project) + 1);
    next.start();
  }

  function release(project: string): void {
    total--;
    const left = runningOf(project) - 1;
    if (left > 0) running.set(project, left);
    else running.delete(project);
    startNext();
  }

  return (project, work) =>
    new Promise((resolve, reject) => {
      if (waiting.filter((one) => one.project === project).length >= maxWaitingPerProject)
        return resolve(overloaded('too many requests of this project wait for the road data'));
      const abort = new AbortController();
      const timer = setTimeout(() => {
        abort.abort();
        if (waiting.includes(place)) {
          waiting = waiting.filter((one) => one !== place);
          resolve(overloaded('the request waited too long for its turn'));
        } else resolve(refusal('unavailable', 'the provider of road data did not answer in time'));
      }, timeoutMs);
      const place: Waiting = {
        project,
        start() {
          work(abort.signal)
            .then(resolve, (error: unknown) => (abort.signal.aborted ? undefined : reject(error)))
            .finally(() => {
              clearTimeout(timer);
              release(project);
            });
        },
      };
      waiting.push(place);
      startNext();
    });
}
