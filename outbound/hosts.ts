/**
 * Parses the hosts file, which maps names to addresses (hosts(5)). Pure.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';

/** Addresses per name; further ones are ignored. */
export const maxAddresses = 16;

/** Addresses by lower-case name without a trailing dot, in order of the file, without duplicates. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/**
 * Parses lines with an address, its names and an optional # comment. Lines that begin with anything else are ignored,
 * as on every system.
 */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [entry = ''] = line.split('#', 1);
    const [address = '', ...names] = entry.trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 0) for (const name of names) add(hosts, normalName(name), { address, family });
  }
  return hosts;
}

/** Normalizes a name: lower case, no trailing dot. */
export const normalName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

function add(hosts: Map<string, LookupAddress[]>, name: string, entry: LookupAddress): void {
  const entries = hosts.get(name) ?? [];
  if (entries.length === maxAddresses || entries.some(({ address }) => address === entry.address)) return;
  entries.push(entry);
  hosts.set(name, entries);
}
