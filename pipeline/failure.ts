/** A promise that a part of a program rejects when it fails outside the calls of others. */
interface Failure {
  readonly failed: Promise<never>;
  fail(error: unknown): void;
}

/** Creates a failure whose rejection need not be handled. */
export function createFailure(): Failure {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  return { failed, fail };
}
