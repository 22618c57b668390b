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
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { hasElapsed } from '../../schemas/elapsed.js';
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
  readonly clock: () => number;
}

/** Requests in flight and waiting; more are refused, because each waits in memory. */
const maxInFlight = 1_000;

/** A language that the service refused is left out for this time. */
const refusedLanguageMs = 3_600_000;
const maxRefusedLanguages = 100;

/** Name of the settings that messages point to. */
const urlSetting = 'geocoding.url';

export function createHttpGeocoder(parts: HttpGeocoderParts): Geocoder {
  const { service, client, apiKey, pace, maxWaitMs, maxCachedAnswers, maxCacheAgeMs, clock } = parts;
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
  /** When the service refused a language, epoch ms. */
  const refusedLanguages = createBoundedCache<string, number>(maxRefusedLanguages);
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

  const isRefused = (language: string): boolean =>
    !hasElapsed(refusedLanguageMs, refusedLanguages.get(language) ?? -Infinity, clock());

  /** Photon refuses requests in languages that its index does not have, which is no reason to find nothing. */
  async function inLanguage(pathOf: PathOf, query: string | null, options: GeocodingOptions): Promise<GeocodingResult> {
    const { language, ...withoutLanguage } = options;
    if (language === undefined || isRefused(language)) return answer(pathOf(withoutLanguage), query);
    const result = await answer(pathOf(options), query);
    if (result.ok || result.error.code !== 'not_available') return result;
    const other = await answer(pathOf(withoutLanguage), query);
    if (other.ok) refusedLanguages.set(language, clock());
    return other;
  }

  async function select(pathOf: PathOf, query: string | null, options: GeocodingOptions): Promise<GeocodingResult> {
    const result = await inLanguage(pathOf, query, options);
    return result.ok ? { ok: true, value: selected(result.value, options) } : result;
  }

  return {
    name: service.name,
    attribution: service.attribution,
    knowsStreets: true,
    forward: (query, options) => select((asked) => service.forward(query, asked), query, options),
    reverse: (position, options) => select((asked) => service.reverse(position, asked), null, options),
    async autocomplete(query, options) {
      const { autocomplete } = service;
      return autocomplete === null
        ? refusal(
            'not_available',
            `${service.name} has no autocomplete; set geocoding.provider to photon, pelias or gazetteer`,
          )
        : select((asked) => autocomplete(query, asked), query, options);
    },
    close: () => client.close(),
  };
}

type PathOf = (options: GeocodingOptions) => string;

/** Statuses below 500 with which the same request may succeed later, or after the operator has corrected the key. */
const passingStatuses: readonly number[] = [401, 403, 408, 429];

function readResult(service: Service, result: OutboundResult, query: string | null): GeocodingResult {
  if (result.kind === 'failed')
    return refusal('unavailable', `${service.name} at ${urlSetting} did not answer: ${result.failure}`);
  const { status, body, truncated } = result;
  if (status !== 200) {
    const isRefused = status >= 400 && status < 500 && !passingStatuses.includes(status);
    return refusal(isRefused ? 'not_available' : 'unavailable', `${service.name} at ${urlSetting} answered ${status}`);
  }
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
