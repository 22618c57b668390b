/**
 * Fetches bytes by URL. The caller of the renderer provides it, and decides which addresses and response times are
 * allowed.
 */

interface FetchedBytes {
  readonly status: number;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Rejects without a response, or when the response exceeds the bound. */
export type FetchBytes = (url: string, headers: Readonly<Record<string, string>>) => Promise<FetchedBytes>;
