/** Requests to addresses that others chose, and their results. */

/** Takes a body in pieces instead of keeping it in memory. Its own limits replace `maxBodyBytes`. */
export interface BodyReceiver {
  /** Takes a piece; the next one waits for the promise. Resolves to false to end the response here. */
  write(piece: Buffer): Promise<boolean>;
}

/** A request to a server that somebody else chose. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** A URL that `checkUrl` accepts; any other fails as `address_refused`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Chooses what takes the body, once status and headers have arrived. Undefined: the body is kept, bounded. */
  readonly receiver?: (status: number, headers: Readonly<Record<string, string>>) => BodyReceiver | undefined;
  /** Ends the request early when it aborts, like a broken connection. */
  readonly signal?: AbortSignal;
}

/** Why there is no response. */
export type OutboundFailure =
  | 'address_refused'
  | 'name_not_found'
  | 'connection_failed'
  | 'tls_failed'
  | 'timed_out'
  | 'invalid_answer';

/** `answered` once status and headers have arrived, with as much of the body as the bounds allow. */
export type OutboundResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names; repeated headers are joined by a comma. Bounded. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      /** The body continues beyond what was read. */
      readonly truncated: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly failure: OutboundFailure;
      readonly message: string;
      readonly durationMs: number;
    };
