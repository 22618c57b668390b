import { ApiError } from '../../schemas/errors.js';

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
