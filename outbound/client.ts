/**
 * Sends HTTP requests to addresses that others chose: webhooks, files to sync, icons by URL.
 *
 * Input: a request and bounds. Output: the bounded response, or why there is none, as a value; never an exception.
 * Private, loopback and otherwise reserved addresses are refused when the connection is made. Redirects are not
 * followed.
 * One time limit covers everything from name resolution to the last byte. Imports `schemas` only.
 */
import { createSecureContext } from 'node:tls';
import type { Networks } from './addresses.js';
import { ConnectionPools } from './connections.js';
import { Exchange } from './exchange.js';
import { createGuardedLookup, type Lookup } from './lookup.js';
import { NameResolver } from './resolver.js';
import type { OutboundFailure, OutboundRequest, OutboundResult } from './result.js';
import { checkUrl } from './url.js';

export type { BodyReceiver, OutboundFailure, OutboundRequest, OutboundResult } from './result.js';

/** Sends requests. A failure is a result, so `send` rejects for none. */
export interface OutboundClient {
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Fails requests in flight as `connection_failed`, and closes all connections. */
  close(): Promise<void>;
}

/** Bounds of one client; webhooks, files and icons have a client each. */
export interface OutboundOptions {
  /** Reserved networks that are allowed nevertheless. */
  readonly allowedNetworks: Networks;
  /** Value of the `user-agent` header. */
  readonly userAgent: string;
  /** Total time limit: waiting for a free connection, resolving, connecting, sending and reading. */
  readonly timeoutMs: number;
  /** Time limit for reading the body after the headers. The body read by then is returned. */
  readonly bodyTimeoutMs: number;
  /** Maximum size of a body; a longer one is cut and its connection closed. */
  readonly maxBodyBytes: number;
  /** Maximum size of names and values together; more is an `invalid_answer`. */
  readonly maxHeaderBytes?: number;
  /** Further requests wait. */
  readonly maxConnectionsPerOrigin: number;
  /** Resolves names; a new {@link NameResolver} by default. */
  readonly lookup?: Lookup;
  /** Certificates (PEM) to trust instead of the well-known authorities. */
  readonly ca?: string;
}

const defaultMaxHeaderBytes = 16_384;

/**
 * Creates a client. If the other side closes a kept-alive connection during a request, the request is sent again on a
 * new connection, even a POST. So the other side may see it twice, as with any delivery at least once. Nothing is
 * decompressed, no cookie is kept, no proxy is used.
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
  const connections = new ConnectionPools(
    { allowed, lookup, secureContext },
    { maxConnectionsPerOrigin, maxHeaderBytes },
  );
  let closed = false;

  return {
    async send({ method, url, headers, body = null, receiver, signal }) {
      const checked = checkUrl('url', url, allowed);
      if (!checked.ok) return failed('address_refused', `the URL ${checked.problem.rule}`);
      if (closed) return failed('connection_failed', 'the client is closed');
      if (signal?.aborted) return failed('connection_failed', endedEarly);
      const { origin, pathname, search } = checked.value;
      let exchange: Exchange | undefined;
      const end = () => exchange?.abandon(endedEarly);
      const result = new Promise<OutboundResult>((settle) => {
        const request = {
          origin,
          path: pathname + search,
          method,
          headers: { 'user-agent': userAgent, ...headers },
          body,
        };
        const pool = connections.to(origin);
        exchange = new Exchange(request, options, pool, settle, receiver);
        pool.acquire(exchange);
      });
      signal?.addEventListener('abort', end);
      return result.finally(() => signal?.removeEventListener('abort', end));
    },
    async close() {
      closed = true;
      await connections.close();
      resolver.close();
    },
  };
}

const endedEarly = 'the request was ended early';

/** Builds the result of a request that was not sent. */
const failed = (failure: OutboundFailure, message: string): OutboundResult => ({
  kind: 'failed',
  failure,
  message,
  durationMs: 0,
});
