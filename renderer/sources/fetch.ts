/**
 * How bytes come by URL: given from outside, by whoever knows which addresses are allowed and how long an answer may
 * take.
 */

export interface FetchedBytes {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Rejects when there is no answer, or more than a bound's worth of it. */
export type FetchBytes = (url: string, headers: Readonly<Record<string, string>>) => Promise<FetchedBytes>;
