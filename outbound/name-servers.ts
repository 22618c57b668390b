/**
 * Names to addresses by DNS.
 *
 * Flows in: a name. Flows out: its addresses and how long they may be kept, or why there are none. c-ares asks, by
 * sockets on the event loop: any number of names wait side by side, and none of them holds one of the process's few
 * threads, as getaddrinfo does.
 */
import { type LookupAddress, NODATA, NOTFOUND, type RecordWithTtl, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';

export type Answer =
  | { readonly kind: 'addresses'; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  /** Why, as `node:dns` says it: ENOTFOUND, ESERVFAIL, ETIMEOUT and so on. */
  | { readonly kind: 'none'; readonly code: string };

export interface NameServersOptions {
  /** As `dns.setServers` takes them; those of the machine unless given, read anew for every name. */
  readonly servers?: readonly string[];
  /** For the first try with each server; c-ares waits longer for the second. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 2_000;
const tries = 2;
/** What version 6 may take longer than version 4 (RFC 8305 3). */
const resolutionDelayMs = 50;
/** More addresses of a version than this are not tried. */
const maxAddresses = 8;
/** The name is not there, or has no address of this version. */
const definite: readonly string[] = [NOTFOUND, NODATA];

/** What was answered for one version; `code` says why there are no records, if so. */
interface Answered {
  readonly records: readonly RecordWithTtl[];
  readonly code: string;
}

export class NameServers {
  readonly #servers: readonly string[] | undefined;
  readonly #timeoutMs: number;
  readonly #asking = new Set<Resolver>();

  constructor({ servers, timeoutMs = defaultTimeoutMs }: NameServersOptions = {}) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Each name is asked for by a resolver of its own, with a socket of its own. One resolver for all takes the time that
   * each server takes for most names as a measure, and gives up on a name that needs a second as soon as the others
   * need milliseconds.
   */
  async ask(name: string): Promise<Answer> {
    const resolver = new Resolver({ timeout: this.#timeoutMs, tries });
    if (this.#servers !== undefined) resolver.setServers(this.#servers);
    this.#asking.add(resolver);
    try {
      return await askBoth(resolver, name);
    } finally {
      this.#asking.delete(resolver);
      resolver.cancel();
    }
  }

  /** Names that are being asked for end with ECANCELLED. */
  close(): void {
    for (const resolver of this.#asking) resolver.cancel();
  }
}

/**
 * Both versions at once. Version 4 is waited for, since it works on most machines; version 6 hardly longer than that,
 * since some servers never answer for it.
 */
async function askBoth(resolver: Resolver, name: string): Promise<Answer> {
  const asked6 = answered(resolver.resolve6(name, { ttl: true }));
  const version4 = await answered(resolver.resolve4(name, { ttl: true }));
  const version6 = await (version4.records.length === 0 ? asked6 : Promise.race([asked6, late()]));
  const records = [...version4.records, ...version6.records];
  // The one that leaves it open whether there are addresses, if there is one.
  if (records.length === 0)
    return { kind: 'none', code: definite.includes(version4.code) ? version6.code : version4.code };
  return {
    kind: 'addresses',
    addresses: inOrder(version4.records, version6.records),
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
 * Version 6 first (RFC 6724), and no more addresses of it than of version 4 where there are both. `node:net` tries them
 * one at a time, each version in turn, and gives up on all but the last after 250 ms: so the last one is of version 4,
 * and a machine without version 6, where those fail at once, has all the time for it.
 */
export function inOrder(
  version4: readonly { address: string }[],
  version6: readonly { address: string }[],
): LookupAddress[] {
  const tried6 = version4.length === 0 ? version6 : version6.slice(0, version4.length);
  return [
    ...tried6.map(({ address }) => ({ address, family: 6 })),
    ...version4.map(({ address }) => ({ address, family: 4 })),
  ];
}
