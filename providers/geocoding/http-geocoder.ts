/**
 * A geocoder that asks a service over HTTP.
 *
 * Requests are paced, answers are cached, and equal requests in flight are one request: public instances allow one
 * request per second for a whole application. Everything has a bound: time, size of answers, waiting requests, cache.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { OutboundClient, OutboundResult } from '../../outbound/client.js';
import { ignoreCache, type ObserveCache } from '../../pipeline/cache-use.js';
import { refusal } from '../answer.js';
import { type Geocoder, type GeocodingOptions, type GeocodingResult, selected } from './geocoder.js';
import type { Service } from './services.js';

/**
 * Admits requests to the service. Resolves to null when one may be sent now, else to the milliseconds until it makes
 * sense to ask again.
 */
export type Pace = () => Promise<number | null>;

export interface HttpGeocoderParts {
  readonly service: Service;
  readonly client: OutboundClient;
  /** Base URL, with or without a path. */
  readonly baseUrl: string;
  /** Sent as `api_key`; empty for none. */
  readonly apiKey: string;
  readonly pace: Pace;
  /** How long a request waits for its turn. */
  readonly maxWaitMs: number;
  readonly maxCachedAnswers: number;
  readonly maxCacheAgeMs: number;
  readonly observeCache?: ObserveCache | undefined;
  /** Epoch ms. */
  readonly clock?: () => number;
}

/** Requests in flight and waiting; more are refused, because each waits in memory. */
const maxInFlight = 1_000;

/** Name of the settings that messages point to. */
const urlSetting = 'geocoding.url';

export function createHttpGeocoder(parts: HttpGeocoderParts): Geocoder {
  const { service, client, apiKey, pace, maxWaitMs, maxCachedAnswers, maxCacheAgeMs } = parts;
  const clock = parts.clock ?? Date.now;
  const base = parts.baseUrl.replace(/\/+$/, '');
  const cache = new LRUCache<string, GeocodingResult>({
    max: Math.max(1, maxCachedAnswers),
    ttl: maxCacheAgeMs,
    perf: { now: clock },
  });
  let hits = 0;
  let misses = 0;
  const { observeCache = ignoreCache } = parts;
  observeCache('geocoding', () => ({ hits, misses, entries: cache.size }));
  const inFlight = new Map<string, Promise<GeocodingResult>>();

  const urlOf = (path: string): string =>
    `${base}${path}${apiKey === '' ? '' : `&${new URLSearchParams({ api_key: apiKey })}`}`;

  async function waitForTurn(): Promise<boolean> {
    const until = clock() + maxWaitMs;
    for (;;) {
      const waitMs = await pace();
      if (waitMs === null) return true;
      if (clock() + waitMs > until) return false;
      await delay(waitMs);
    }
  }

  async function ask(path: string, query: string | null): Promise<GeocodingResult> {
    if (!(await waitForTurn()))
      return refusal(
        'unavailable',
        `too many requests wait for ${service.name}, which geocoding.maxRequestsPerSecond paces`,
      );
    const result = await client.send({ method: 'GET', url: urlOf(path), headers: { accept: 'application/json' } });
    return readResult(service, result, query);
  }

  async function answer(path: string, query: string | null): Promise<GeocodingResult> {
    const cached = cache.get(path);
    if (cached !== undefined) {
      hits += 1;
      return cached;
    }
    misses += 1;
    const same = inFlight.get(path);
    if (same !== undefined) return same;
    if (inFlight.size >= maxInFlight) return refusal('unavailable', `too many requests wait for ${service.name}`);
    const asked = ask(path, query).then((result) => {
      if (result.ok && maxCachedAnswers > 0 && maxCacheAgeMs > 0) cache.set(path, result);
      return result;
    });
    inFlight.set(path, asked);
    return asked.finally(() => inFlight.delete(path));
  }

  async function select(path: string, query: string | null, options: GeocodingOptions): Promise<GeocodingResult> {
    const result = await answer(path, query);
    return result.ok ? { ok: true, value: selected(result.value, options) } : result;
  }

  return {
    name: service.name,
    attribution: service.attribution,
    knowsStreets: true,
    forward: (query, options) => select(service.forward(query, options), query, options),
    reverse: (position, options) => select(service.reverse(position, options), null, options),
    autocomplete: async (query, options) =>
      service.autocomplete === null
        ? refusal(
            'not_available',
            `${service.name} has no autocomplete; set geocoding.provider to photon, pelias or gazetteer`,
          )
        : select(service.autocomplete(query, options), query, options),
    close: () => client.close(),
  };
}

function readResult(service: Service, result: OutboundResult, query: string | null): GeocodingResult {
  if (result.kind === 'failed')
    return refusal('unavailable', `${service.name} at ${urlSetting} did not answer: ${result.failure}`);
  const { status, body, truncated } = result;
  if (status === 429 || status >= 500)
    return refusal('unavailable', `${service.name} at ${urlSetting} answered ${status}`);
  if (status !== 200) return refusal('unavailable', `${service.name} at ${urlSetting} answered ${status}`);
  const addresses = truncated ? undefined : service.read(parsed(body), query);
  return addresses === undefined
    ? refusal('unavailable', `the answer of ${urlSetting} is not one of ${service.name}`)
    : { ok: true, value: addresses };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** The part of the port `ExpiringValues` that a pace needs. */
export interface Turns {
  put(key: string, value: string, ttlMs: number, condition: { readonly current: null }): Promise<boolean>;
}

/** Longest interval between two checks of whether it is a request's turn. */
const maxPollMs = 250;

/**
 * Creates a pace of at most `perSecond` requests a second by all processes that share `turns`: the process that stores
 * the value of a turn, which expires after the interval, may send. 0 removes the limit.
 */
export function createPace(service: string, perSecond: number, turns: Turns): Pace {
  if (perSecond <= 0) return async () => null;
  const intervalMs = Math.ceil(1_000 / perSecond);
  return async () => {
    const isOurs = await turns.put(`geocoding/${service}/turn`, randomUUID(), intervalMs, { current: null });
    return isOurs ? null : Math.min(intervalMs, maxPollMs);
  };
}
