/** The errors of jobs. */
import { ApiError } from '../../schemas/errors.js';

const retryAfterS = 2;

/** An expected failure of a job. Its client pays for the time that it took. */
export class FailedJob extends ApiError {
  /** Processor time that the job has used, as far as it is known. */
  readonly processorMs: number;

  constructor(
    code: ApiError['code'],
    message: string,
    { processorMs = 0, retryAfterS }: { readonly processorMs?: number; readonly retryAfterS?: number },
  ) {
    super(code, message, { retryAfterS });
    this.processorMs = processorMs;
  }
}

/** A job crashed its process twice. */
export class Crash extends Error {}

/** A job exceeded its time limit. */
export class Overdue extends FailedJob {
  constructor(
    purpose: string,
    readonly limitMs: number,
    processorMs = 0,
  ) {
    super('unavailable', `drawing ${purpose} took more than ${limitMs} ms`, { processorMs, retryAfterS });
  }
}

/** Returns the error of a job that is refused because too many are in progress. */
export const overloaded = (purpose: string): ApiError =>
  new ApiError('overloaded', `too many ${purpose} are in progress`, { retryAfterS });
