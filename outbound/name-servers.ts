/**
 * Resolves names by DNS.
 *
 * Input: a name. Output: its addresses and their time to live, or why there are none. Uses c-ares, which works with
 * sockets on the event loop. Any number of lookups run concurrently, and none occupies one of Node's few threads as
 * getaddrinfo does.
 */
import { type LookupAddress, NODATA, NOTFOUND, type RecordWithTtl, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** What the name servers know of a name. */
export type Answer =
  | { readonly kind: 'addresses'; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  /** Error code of `node:dns`: ENOTFOUND, ESERVFAIL, ETIMEOUT and so on. */
  | { readonly kind: 'none'; readonly code: string };

/** Which name servers are asked, and for how long. */
export interface NameServersOptions {
  /** As for `dns.setServers`; by default those of the machine, read again for every name. */
  readonly servers?: readonly string[];
  /** Time limit of the first attempt with each server; c-ares waits longer for the second. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 2_000;
const attempts = 2;
/** How much longer IPv6 may take than IPv4 (RFC 8305 section 3). */
const resolutionDelayMs = 50;
/** Maximum number of addresses used per version. */
const maxAddresses = 8;
/** Codes for a name that doesn't exist, or has no address of the version. */
const definite: readonly string[] = [NOTFOUND, NODATA];

/** The response for one IP version; without records, `code` says why. */
interface Answered {
  readonly records: readonly RecordWithTtl[];
  readonly code: string;
}

/** Asks name servers. Nothing is cached here. */
export class NameServers {
  readonly #servers: readonly string[] | undefined;
  readonly #timeoutMs: number;
  readonly #pending = new Set<Resolver>();

  constructor({ servers, timeoutMs = defaultTimeoutMs }: NameServersOptions = {}) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Resolves each name with a new resolver and socket. A shared resolver adapts its time limit to each server's typical
   * response time. It would give up on a name that takes a second when others take milliseconds.
   */
  async resolve(name: string): Promise<Answer> {
    const resolver = new Resolver({ timeout: this.#timeoutMs, tries: attempts });
    if (this.#servers !== undefined) resolver.setServers(this.#servers);
    this.#pending.add(resolver);
    try {
      return await resolveBoth(resolver, name);
    } finally {
      this.#pending.delete(resolver);
      resolver.cancel();
    }
  }

  /** Cancels pending lookups with ECANCELLED. */
  close(): void {
    for (const resolver of this.#pending) resolver.cancel();
  }
}

/**
 * Resolves both IP versions concurrently. Waits for IPv4, because it works on most machines, and only slightly longer
 * for IPv6, because some servers never respond to it.
 */
async function resolveBoth(resolver: Resolver, name: string): Promise<Answer> {
  const pending6 = answered(resolver.resolve6(name, { ttl: true }));
  const ipv4 = await answered(resolver.resolve4(name, { ttl: true }));
  const ipv6 = await (ipv4.records.length === 0 ? pending6 : Promise.race([pending6, late()]));
  const records = [...ipv4.records, ...ipv6.records];
  // Prefers the code that leaves open whether there are addresses.
  if (records.length === 0) return { kind: 'none', code: definite.includes(ipv4.code) ? ipv6.code : ipv4.code };
  return {
    kind: 'addresses',
    addresses: inOrder(ipv4.records, ipv6.records),
    ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1_000,
  };
}

const answered = (answer: Promise<readonly RecordWithTtl[]>): Promise<Answered> =>
  answer.then(
    (records) => ({ records: records.slice(0, maxAddresses), code: NODATA }),
    ({ code, name }: NodeJS.ErrnoException) => ({ records: [], code: code ?? name }),
  );

const late = (): Promise<Answered> => delay(resolutionDelayMs, { records: [], code: TIMEOUT }, { ref: false });

/**
 * Orders addresses: IPv6 first (RFC 6724), and no more of them than IPv4 addresses if there are both. `node:net` tries
 * them one at a time, alternating versions, and limits the time of all but the last. So the last is an IPv4 address,
 * and a machine without IPv6, where those fail at once, has the full time for it.
 */
export function inOrder(ipv4: readonly { address: string }[], ipv6: readonly { address: string }[]): LookupAddress[] {
  const tried6 = ipv4.length === 0 ? ipv6 : ipv6.slice(0, ipv4.length);
  return [
    ...tried6.map(({ address }) => ({ address, family: 6 })),
    ...ipv4.map(({ address }) => ({ address, family: 4 })),
  ];
}
