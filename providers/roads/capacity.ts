/** Limits how many requests to an engine run and wait, and how long they take, and shares the engine among projects. */
import { isPortError } from '../../pipeline/errors.js';
import { createFairLimit } from '../../pipeline/fair-limit.js';
import { ApiError } from '../../schemas/errors.js';
import { type Answer, refusal } from '../answer.js';
import type { TimeLimit } from '../time-limit.js';

/** What a provider of roads does at the same time. Projects share it equally. */
export interface CapacityLimits {
  readonly maxConcurrency: number;
  readonly maxWaitingPerProject: number;
  /** Limit of waiting and work together. */
  readonly timeoutMs: number;
}

/** Runs work of a project. The place is free again when the work has ended, which may be after the time limit. */
type Capacity = <T>(project: string, work: (limit: TimeLimit) => Promise<Answer<T>>) => Promise<Answer<T>>;

const retryAfterS = 1;
/** Share of the time limit that must be left to begin. Work that ends at its limit was begun in vain. */
const leastShare = 0.25;

const overloaded = (what: string): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError('overloaded', `${what}; try again later`, { retryAfterS }),
});

const waitedTooLong = () => overloaded('the request waited too long for its turn');

/** Shares an engine among projects, with a time limit for each request that includes its waiting. */
export function createCapacity({ maxConcurrency, maxWaitingPerProject, timeoutMs }: CapacityLimits): Capacity {
  const limited = createFairLimit({
    maxRunning: maxConcurrency,
    maxWaitingPerProject,
    refusal: 'too many requests of this project wait for the road data',
    retryAfterS,
  });
  return (project, work) =>
    new Promise((resolve, reject) => {
      const abort = new AbortController();
      const endMs = performance.now() + timeoutMs;
      const limit: TimeLimit = {
        signal: abort.signal,
        hasTime: () => !abort.signal.aborted && endMs - performance.now() >= leastShare * timeoutMs,
      };
      let hasStarted = false;
      const timer = setTimeout(() => {
        resolve(
          hasStarted ? refusal('unavailable', 'the provider of road data did not answer in time') : waitedTooLong(),
        );
        abort.abort();
      }, timeoutMs);
      const start = async (): Promise<Answer<never>> => {
        if (!limit.hasTime()) return waitedTooLong();
        hasStarted = true;
        return work(limit) as Promise<Answer<never>>;
      };
      limited(project, start, abort.signal)
        .then(resolve, (error: unknown) => {
          if (isPortError(error, 'overloaded')) resolve(overloaded(error.message));
          else if (!abort.signal.aborted) reject(error);
        })
        .finally(() => clearTimeout(timer));
    });
}
