/**
 * Names to addresses: `localhost`, the hosts file, then DNS.
 *
 * Flows in: a name. Flows out: all its addresses, whether they may be connected to or not: the guard around it judges
 * that for each connection anew.
 *
 * Names are taken as they are written, as whole ones: no search domain is added to them. A name without a dot is asked
 * for as it is, which is how the names of containers resolve (Docker, Podman, Compose); in Kubernetes a service is
 * `name.namespace.svc.cluster.local`, its short names resolve to nothing. Sources other than the hosts file and DNS
 * (mDNS and its `.local`, NIS, LDAP, NetBIOS) are not asked, unless the machine's own name server does so, as
 * systemd-resolved.
 */
import { type LookupAddress, NOTFOUND } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { normalName } from './hosts.js';
import { HostsFile } from './hosts-file.js';
import type { Lookup } from './lookup.js';
import { type Answer, NameServers, type NameServersOptions } from './name-servers.js';

export interface NameResolverOptions extends NameServersOptions {
  /** The system's unless given. */
  readonly hostsPath?: string;
  /** Any steady clock, ms. */
  readonly nowMs?: () => number;
}

interface Known {
  readonly answer: Answer;
  readonly untilMs: number;
}

const maxKnownNames = 1_000;
/** An answer is kept for as long as its records say, and no longer than this. */
const maxKnownMs = 30_000;
/** That there is no address is known for less than a webhook's first retry takes. */
const noneKnownMs = 3_000;

/** What localhost and every name below it is, whoever is asked (RFC 6761 6.3). */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export class NameResolver {
  readonly #hostsFile: HostsFile;
  readonly #nameServers: NameServers;
  readonly #nowMs: () => number;
  readonly #known = new LRUCache<string, Known>({ max: maxKnownNames });

  constructor({ hostsPath, nowMs = () => performance.now(), ...options }: NameResolverOptions = {}) {
    this.#hostsFile = new HostsFile(hostsPath);
    this.#nameServers = new NameServers(options);
    this.#nowMs = nowMs;
  }

  readonly lookup: Lookup = async (hostname, _options, callback) => {
    const name = normalName(hostname);
    const answer = this.#answerHere(name) ?? (await this.#ask(name));
    if (answer.kind === 'addresses') callback(null, [...answer.addresses]);
    else callback(Object.assign(new Error('no address'), { code: answer.code }), []);
  };

  /** Names that are being resolved end with ECANCELLED. */
  close(): void {
    this.#nameServers.close();
  }

  /** Without asking anybody. */
  #answerHere(name: string): Answer | undefined {
    if (/(^|\.)localhost$/.test(name)) return fixed(loopback);
    // Never anything (RFC 6761 6.4).
    if (/(^|\.)invalid$/.test(name)) return { kind: 'none', code: NOTFOUND };
    const addresses = this.#hostsFile.current().get(name);
    if (addresses !== undefined) return fixed(addresses);
    const known = this.#known.get(name);
    return known !== undefined && this.#nowMs() < known.untilMs ? known.answer : undefined;
  }

  async #ask(name: string): Promise<Answer> {
    const answer = await this.#nameServers.ask(name);
    const knownMs = answer.kind === 'none' ? noneKnownMs : Math.min(answer.ttlMs, maxKnownMs);
    this.#known.set(name, { answer, untilMs: this.#nowMs() + knownMs });
    return answer;
  }
}

/** Asked for anew each time. */
const fixed = (addresses: readonly LookupAddress[]): Answer => ({ kind: 'addresses', addresses, ttlMs: 0 });
