/**
 * Errors of the ports. They name no protocol: `http/answers/failures.ts` maps them to the catalogue of HTTP errors, and
 * workers decide by their code whether to try again.
 */

/**
 * `overloaded`: too much is in flight. `unavailable`: a store or a thread is out of reach, or closed. `storage_full`:
 * the disk has no space left for new data.
 */
export type PortErrorCode = 'overloaded' | 'unavailable' | 'storage_full';

/** An expected, temporary failure of a port. `message` is safe to show to clients. */
export class PortError extends Error {
  readonly code: PortErrorCode;
  /** Seconds after which the caller may try again. */
  readonly retryAfterS: number | undefined;

  constructor(code: PortErrorCode, message: string, options: { readonly retryAfterS?: number } = {}) {
    super(message);
    this.name = 'PortError';
    this.code = code;
    this.retryAfterS = options.retryAfterS;
  }
}

/** Ignores an error of a port, for work that is tried again. Throws any other one. */
export function ignorePassing(error: unknown): void {
  if (!isPortError(error)) throw error;
}

/** Tests whether the error is a {@link PortError} with one of the codes, or with any code if none is given. */
export const isPortError = (error: unknown, ...codes: readonly PortErrorCode[]): error is PortError =>
  error instanceof PortError && (codes.length === 0 || codes.includes(error.code));
