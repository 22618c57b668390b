/** A failure of what a stage does beside the calls of its log: told once, as a rejection. */
export interface Failure {
  readonly failed: Promise<never>;
  fail(error: unknown): void;
}

/** Makes one that nobody need wait for. */
export function createFailure(): Failure {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  return { failed, fail };
}
