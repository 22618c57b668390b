/**
 * Requests to addresses that somebody else chose: webhooks, files to sync, icons by URL.
 *
 * Flows in: a request and bounds. Flows out: what came back, bounded, or why nothing did: a value, never an exception.
 * Private, loopback and otherwise reserved addresses are refused when the connection is made, redirects are not
 * followed, one time limit covers everything from the name's resolution to the last byte read. Imports `schemas` only.
 */
import { createSecureContext } from 'node:tls';
import type { Networks } from './addresses.js';
import { Connections } from './connections.js';
import { Exchange } from './exchange.js';
import { createGuardedLookup, type Lookup } from './lookup.js';
import { NameResolver } from './resolver.js';
import { checkUrl } from './url.js';

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** As {@link checkUrl} accepts it; any other ends as `address_refused`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Why there was no answer. */
export type OutboundFailure =
  | 'address_refused'
  | 'name_not_found'
  | 'connection_failed'
  | 'tls_failed'
  | 'timed_out'
  | 'invalid_answer';

/** `answered` as soon as status and headers are there; of the body what came within the bounds. */
export type OutboundResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names; repeated ones joined by a comma; bounded. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      /** The body goes on beyond what was read. */
      readonly truncated: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly failure: OutboundFailure;
      readonly message: string;
      readonly durationMs: number;
    };

export interface OutboundClient {
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Ends requests in flight as `connection_failed`, and all connections. */
  close(): Promise<void>;
}

/** What one client is for: webhooks, files and icons each have their own bounds. */
export interface OutboundOptions {
  /** Networks that may be connected to although they are reserved. */
  readonly allowedNetworks: Networks;
  /** Of the `user-agent` header. */
  readonly userAgent: string;
  /** For all of it: waiting for a free connection, resolving, connecting, sending and reading. */
  readonly timeoutMs: number;
  /** How long the body is read once the headers are there, within the whole. What has come by then is answered. */
  readonly bodyTimeoutMs: number;
  /** What is kept of a body; where there is more, the connection is dropped. */
  readonly maxBodyBytes: number;
  /** Names and values together; more is an `invalid_answer`. */
  readonly maxHeaderBytes?: number;
  /** Requests beyond them wait. */
  readonly maxConnectionsPerOrigin: number;
  /** Resolves names; a {@link NameResolver} of its own unless given. */
  readonly lookup?: Lookup;
  /** Certificates (PEM) to trust instead of the well-known authorities. */
  readonly ca?: string;
}

const defaultMaxHeaderBytes = 16_384;

/**
 * A request that went out on a kept connection just as the other side closed it is sent once more on a new one, also a
 * POST: the other side may see it twice, as it may anything that is delivered at least once. Nothing is decompressed,
 * no cookie is kept, no proxy is used.
 */
export function createOutboundClient(options: OutboundOptions): OutboundClient {
  const {
    allowedNetworks: allowed,
    userAgent,
    maxHeaderBytes = defaultMaxHeaderBytes,
    maxConnectionsPerOrigin,
  } = options;
  const resolver = new NameResolver();
  const lookup = createGuardedLookup(options.lookup ?? resolver.lookup, allowed);
  const secureContext = createSecureContext(options.ca === undefined ? {} : { ca: options.ca });
  const connections = new Connections({ allowed, lookup, secureContext }, { maxConnectionsPerOrigin, maxHeaderBytes });
  let closed = false;

  return {
    async send({ method, url, headers, body = null }) {
      const checked = checkUrl('url', url, allowed);
      if (!checked.ok) return failed('address_refused', `the URL ${checked.problem.rule}`);
      if (closed) return failed('connection_failed', 'the client is closed');
      const { origin, pathname, search } = checked.value;
      return new Promise((settle) => {
        const request = {
          origin,
          path: pathname + search,
          method,
          headers: { 'user-agent': userAgent, ...headers },
          body,
        };
        const pool = connections.to(origin);
        pool.take(new Exchange(request, options, pool, settle));
      });
    },
    async close() {
      closed = true;
      await connections.close();
      resolver.close();
    },
  };
}

/** Before anything was tried. */
const failed = (failure: OutboundFailure, message: string): OutboundResult => ({
  kind: 'failed',
  failure,
  message,
  durationMs: 0,
});
