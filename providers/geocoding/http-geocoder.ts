/**
 * A geocoder that asks a service over HTTP.
 *
 * Requests are paced and shared among projects, answers are cached, and equal requests in flight are one request.
 * Public instances allow one request per second for a whole application. Everything has a bound: time, size of answers,
 * waiting requests, cache.
 */
import { LRUCache } from 'lru-cache';
import type { OutboundClient, OutboundResult } from '../../outbound/client.js';
import { ignoreCache, type ObserveCache } from '../../pipeline/cache-use.js';
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { hasElapsed, hourMs } from '../../schemas/durations.js';
import { parsedJson } from '../../schemas/parsed-json.js';
import { isFinalRefusal, refusal } from '../answer.js';
import { type Geocoder, type GeocodingOptions, type GeocodingResult, selected } from './geocoder.js';
import { createRequestQueue, type Pace } from './request-queue.js';
import type { Service } from './services.js';

interface HttpGeocoderParts {
  readonly service: Service;
  readonly client: OutboundClient;
  /** Base URL, with or without a path. */
  readonly baseUrl: string;
  /** Sent as `api_key`; empty for none. */
  readonly apiKey: string;
  readonly pace: Pace;
  /** Requests to the service at the same time. */
  readonly maxRunning: number;
  /** How long a request waits for its turn. */
  readonly maxWaitMs: number;
  readonly maxCachedAnswers: number;
  readonly maxCacheAgeMs: number;
  readonly observeCache?: ObserveCache | undefined;
  /** Epoch ms. */
  readonly clock: () => number;
}

/**
 * Characters of the cache for each answer that it may have, on average. Most answers have 2 kB. A service may send long
 * texts in all parts of many addresses.
 */
const charactersPerAnswer = 8_000;
const leastCachedCharacters = 1_000_000;

/** A language that the service refused is left out for this time. */
const refusedLanguageMs = hourMs;
const maxRefusedLanguages = 100;

/** Name of the settings that messages point to. */
const urlSetting = 'geocoding.url';

/** Creates the geocoder of one service, with its own cache and its own pace. `clock` returns epoch ms. */
export function createHttpGeocoder(parts: HttpGeocoderParts): Geocoder {
  const { service, client, apiKey, maxCachedAnswers, maxCacheAgeMs, clock } = parts;
  const base = parts.baseUrl.replace(/\/+$/, '');
  const cache = new LRUCache<string, GeocodingResult>({
    max: Math.max(1, maxCachedAnswers),
    maxSize: Math.max(leastCachedCharacters, charactersPerAnswer * maxCachedAnswers),
    sizeCalculation: (result) => (result.ok ? 1 + JSON.stringify(result.value).length : 1),
    ttl: maxCacheAgeMs,
    perf: { now: clock },
  });
  let hits = 0;
  let misses = 0;
  const { observeCache = ignoreCache } = parts;
  observeCache('geocoding', () => ({ hits, misses, entries: cache.size }));
  /** When the service refused a language, epoch ms. */
  const refusedLanguages = createBoundedCache<string, number>(maxRefusedLanguages);
  const inTurn = createRequestQueue({ ...parts, service: service.name });

  const urlOf = (path: string): string =>
    `${base}${path}${apiKey === '' ? '' : `&${new URLSearchParams({ api_key: apiKey })}`}`;

  async function ask(path: string, query: string | null): Promise<GeocodingResult> {
    const sent = await client.send({ method: 'GET', url: urlOf(path), headers: { accept: 'application/json' } });
    const result = readResult(service, sent, query);
    if (result.ok && maxCachedAnswers > 0 && maxCacheAgeMs > 0) cache.set(path, result);
    return result;
  }

  async function answer(project: string, path: string, query: string | null): Promise<GeocodingResult> {
    const cached = cache.get(path);
    if (cached !== undefined) {
      hits += 1;
      return cached;
    }
    misses += 1;
    return inTurn(project, path, () => ask(path, query));
  }

  const isRefused = (language: string): boolean =>
    !hasElapsed(refusedLanguageMs, refusedLanguages.get(language) ?? -Infinity, clock());

  /** Photon refuses requests in languages that its index does not have, which is no reason to find nothing. */
  async function inLanguage({ project, pathOf, query }: Search, options: GeocodingOptions): Promise<GeocodingResult> {
    const { language, ...withoutLanguage } = options;
    if (language === undefined || isRefused(language)) return answer(project, pathOf(withoutLanguage), query);
    const result = await answer(project, pathOf(options), query);
    if (result.ok || result.error.code !== 'not_available') return result;
    const other = await answer(project, pathOf(withoutLanguage), query);
    if (other.ok) refusedLanguages.set(language, clock());
    return other;
  }

  async function select(search: Search, options: GeocodingOptions): Promise<GeocodingResult> {
    const result = await inLanguage(search, options);
    return result.ok ? { ok: true, value: selected(result.value, options) } : result;
  }

  return {
    name: service.name,
    knowsStreets: true,
    forward: (project, query, options) =>
      select({ project, query, pathOf: (asked) => service.forward(query, asked) }, options),
    reverse: (project, position, options) =>
      select({ project, query: null, pathOf: (asked) => service.reverse(position, asked) }, options),
    async autocomplete(project, query, options) {
      const { autocomplete } = service;
      return autocomplete === null
        ? refusal(
            'not_available',
            `${service.name} has no autocomplete; set geocoding.provider to photon, pelias or gazetteer`,
          )
        : select({ project, query, pathOf: (asked) => autocomplete(query, asked) }, options);
    },
    close: () => client.close(),
  };
}

interface Search {
  readonly project: string;
  readonly pathOf: (options: GeocodingOptions) => string;
  /** null: a search by position. */
  readonly query: string | null;
}

function readResult(service: Service, result: OutboundResult, query: string | null): GeocodingResult {
  if (result.kind === 'failed')
    return refusal('unavailable', `${service.name} at ${urlSetting} did not answer: ${result.failure}`);
  const { status, body, truncated } = result;
  if (status !== 200) {
    const code = isFinalRefusal(status) ? 'not_available' : 'unavailable';
    return refusal(code, `${service.name} at ${urlSetting} answered ${status}`);
  }
  const addresses = truncated ? undefined : service.read(parsedJson(body), query);
  return addresses === undefined
    ? refusal('unavailable', `the answer of ${urlSetting} is not one of ${service.name}`)
    : { ok: true, value: addresses };
}
