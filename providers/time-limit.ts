/** The time limit of a request. */
export interface TimeLimit {
  /** Aborts at the limit. */
  readonly signal: AbortSignal;
  /** Returns whether enough time is left to begin work that cannot be interrupted. False once the signal aborts. */
  hasTime(): boolean;
}
