/**
 * The hosts file: names that a machine's owner has given to addresses by hand (hosts(5)).
 *
 * Flows in: the file's text. Flows out: addresses by name. Pure.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';

/** Of one name; further ones are passed over. */
export const maxAddresses = 16;

/** Addresses by name in lower case, without a dot at the end, in the order of the file and each once. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/**
 * A line is an address, its names, and after # a comment. Lines that begin with something else are passed over, as
 * every system does.
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

/** Names are the same in capitals, and with a dot at their end. */
export const normalName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

function add(hosts: Map<string, LookupAddress[]>, name: string, entry: LookupAddress): void {
  const entries = hosts.get(name) ?? [];
  if (entries.length === maxAddresses || entries.some(({ address }) => address === entry.address)) return;
  entries.push(entry);
  hosts.set(name, entries);
}
