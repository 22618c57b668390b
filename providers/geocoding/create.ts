/** Creates the geocoder that the operator configured. */
import { allNetworks } from '../../outbound/addresses.js';
import { createOutboundClient } from '../../outbound/client.js';
import type { ObserveCache } from '../../pipeline/cache-use.js';
import { hourMs } from '../../schemas/durations.js';
import { createGazetteer } from './gazetteer/gazetteer.js';
import type { Geocoder } from './geocoder.js';
import { createHttpGeocoder } from './http-geocoder.js';
import { createPace, type Turns } from './request-queue.js';
import { services } from './services.js';

/** The settings `geocoding.*`. */
export interface GeocodingSettings {
  readonly provider: keyof typeof services | 'gazetteer' | 'none';
  readonly url: string;
  readonly apiKey: string;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly maxWaitMs: number;
  readonly maxRequestsPerSecond: number;
  readonly maxCachedAnswers: number;
  readonly cacheHours: number;
  readonly observeCache?: ObserveCache;
}

/** Answers of 40 addresses with all their parts have about 100 kB. */
const maxAnswerBytes = 1_048_576;
const maxConnections = 8;

/**
 * Returns undefined where geocoding is switched off.
 * @param turns paces all processes of the installation together.
 * @param clock epoch ms.
 */
export function createGeocoder(
  settings: GeocodingSettings,
  turns: Turns,
  clock: () => number = Date.now,
): Geocoder | undefined {
  const { provider, url, apiKey, userAgent, timeoutMs, maxWaitMs, maxRequestsPerSecond } = settings;
  if (provider === 'none') return undefined;
  if (provider === 'gazetteer') return createGazetteer();
  return createHttpGeocoder({
    service: services[provider],
    client: createOutboundClient({
      allowedNetworks: allNetworks,
      userAgent,
      timeoutMs,
      bodyTimeoutMs: timeoutMs,
      maxBodyBytes: maxAnswerBytes,
      maxConnectionsPerOrigin: maxConnections,
    }),
    baseUrl: url,
    apiKey,
    pace: createPace(provider, maxRequestsPerSecond, turns),
    maxRunning: maxConnections,
    maxWaitMs,
    maxCachedAnswers: settings.maxCachedAnswers,
    maxCacheAgeMs: settings.cacheHours * hourMs,
    observeCache: settings.observeCache,
    clock,
  });
}
