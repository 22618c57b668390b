import { createDeferred } from '../schemas/deferred.js';

/** A promise that a part of a program rejects when it fails outside the calls of others. */
interface Failure {
  readonly failed: Promise<never>;
  fail(error: unknown): void;
}

/** Creates a failure whose rejection need not be handled. */
export function createFailure(): Failure {
  const { promise: failed, reject: fail } = createDeferred<never>();
  failed.catch(() => {});
  return { failed, fail };
}
