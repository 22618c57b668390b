/**
 * Names to addresses that may be connected to.
 *
 * Flows in: a name, while its connection is being made. Flows out: the acceptable ones of its addresses, and no other,
 * to that very connection: a name that answers differently the next time gains nothing.
 */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isRefused, type Networks } from './addresses.js';
import { lookupFailure, OutboundError } from './failures.js';

/** All addresses of a name; `dns.lookup` is one. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type Callback = Parameters<LookupFunction>[2];

/**
 * For connections that ask for all addresses, as those do that try both versions. A name is asked for once at a time,
 * however many connections wait for it.
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

/** Doesn't say which address: that would tell strangers about the operator's network. */
const refused = (): OutboundError =>
  new OutboundError(
    'address_refused',
    'the host name resolves to private, loopback or otherwise reserved addresses only',
  );
