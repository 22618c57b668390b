/**
 * Resolves names: `localhost`, the hosts file, then DNS.
 *
 * Input: a name. Output: all its addresses, allowed or not; the guarded lookup checks them for each connection.
 *
 * Names are fully qualified: no search domain is appended. A name without a dot is resolved as it is, which is how
 * container names resolve (Docker, Podman, Compose). In Kubernetes a service is `name.namespace.svc.cluster.local`; its
 * short names don't resolve. Other sources (mDNS with `.local`, NIS, LDAP, NetBIOS) are not used, unless the machine's
 * name server uses them, as systemd-resolved does.
 */
import { type LookupAddress, NOTFOUND } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { normalName } from './hosts.js';
import { HostsFile } from './hosts-file.js';
import type { Lookup } from './lookup.js';
import { type Answer, NameServers, type NameServersOptions } from './name-servers.js';

/** Where names are looked up. */
export interface NameResolverOptions extends NameServersOptions {
  /** The system's hosts file by default. */
  readonly hostsPath?: string;
  /** Monotonic clock, ms. */
  readonly nowMs?: () => number;
}

interface CachedAnswer {
  readonly answer: Answer;
  readonly untilMs: number;
}

const maxCachedNames = 1_000;
/** Results are cached for the records' time to live, up to this. */
const maxCachedMs = 30_000;
/** Failures are cached for less than the delay of a webhook's first retry. */
const failureCachedMs = 3_000;

/** Addresses of localhost and its subdomains (RFC 6761 section 6.3). */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Resolves names, and keeps answers of DNS for their time to live within bounds. */
export class NameResolver {
  readonly #hostsFile: HostsFile;
  readonly #nameServers: NameServers;
  readonly #nowMs: () => number;
  readonly #cache = new LRUCache<string, CachedAnswer>({ max: maxCachedNames });

  constructor({ hostsPath, nowMs = () => performance.now(), ...options }: NameResolverOptions = {}) {
    this.#hostsFile = new HostsFile(hostsPath);
    this.#nameServers = new NameServers(options);
    this.#nowMs = nowMs;
  }

  readonly lookup: Lookup = async (hostname, _options, callback) => {
    const name = normalName(hostname);
    const answer = this.#resolveLocally(name) ?? (await this.#resolve(name));
    if (answer.kind === 'addresses') callback(null, [...answer.addresses]);
    else callback(Object.assign(new Error('no address'), { code: answer.code }), []);
  };

  /** Cancels pending lookups with ECANCELLED. */
  close(): void {
    this.#nameServers.close();
  }

  /** Resolves a name without DNS. */
  #resolveLocally(name: string): Answer | undefined {
    if (/(^|\.)localhost$/.test(name)) return fixed(loopback);
    // Never resolves (RFC 6761 section 6.4).
    if (/(^|\.)invalid$/.test(name)) return { kind: 'none', code: NOTFOUND };
    const addresses = this.#hostsFile.current().get(name);
    if (addresses !== undefined) return fixed(addresses);
    const cached = this.#cache.get(name);
    return cached !== undefined && this.#nowMs() < cached.untilMs ? cached.answer : undefined;
  }

  async #resolve(name: string): Promise<Answer> {
    const answer = await this.#nameServers.resolve(name);
    const cachedMs = answer.kind === 'none' ? failureCachedMs : Math.min(answer.ttlMs, maxCachedMs);
    this.#cache.set(name, { answer, untilMs: this.#nowMs() + cachedMs });
    return answer;
  }
}

/** Builds a result that is not cached. */
const fixed = (addresses: readonly LookupAddress[]): Answer => ({ kind: 'addresses', addresses, ttlMs: 0 });
