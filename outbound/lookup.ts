/**
 * Resolves names to allowed addresses.
 *
 * Input: a name, while its connection is established. Output: its allowed addresses, for that very connection only, so
 * that a name that resolves differently the next time (DNS rebinding) gains nothing.
 */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isRefused, type Networks } from './addresses.js';
import { lookupFailure, OutboundError } from './failures.js';

/** Resolves a name to all its addresses, like `dns.lookup`. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type Callback = Parameters<LookupFunction>[2];

/**
 * Creates a lookup that returns allowed addresses only, for connections that request all addresses. Concurrent lookups
 * of a name are coalesced into one.
 */
export function createGuardedLookup(lookup: Lookup, allowed: Networks): LookupFunction {
  const waiting = new Map<string, Callback[]>();

  function settle(hostname: string, error: Error | null, addresses: LookupAddress[]): void {
    const callbacks = waiting.get(hostname) ?? [];
    waiting.delete(hostname);
    for (const callback of callbacks) callback(error, addresses);
  }

  return (hostname, _options, callback) => {
    const callbacks = waiting.get(hostname);
    if (callbacks !== undefined) {
      callbacks.push(callback);
      return;
    }
    waiting.set(hostname, [callback]);
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error !== null) return settle(hostname, lookupFailure(error), []);
      const acceptable = addresses.filter(({ address }) => !isRefused(address, allowed));
      settle(hostname, acceptable.length === 0 ? refused() : null, acceptable);
    });
  };
}

/** Builds the refusal without the address, which would disclose the operator's network. */
const refused = (): OutboundError =>
  new OutboundError(
    'address_refused',
    'the host name resolves to private, loopback or otherwise reserved addresses only',
  );
