/** Creates the geocoder and the database of IP addresses that are configured. */
import type { ObserveCache } from '../pipeline/cache-use.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { createGeocoder } from '../providers/geocoding/create.js';
import type { Geocoder } from '../providers/geocoding/geocoder.js';
import { createIpGeocoder, type IpGeocoder } from '../providers/geocoding/ip-database.js';
import { isHttpUrl } from './config/http-url.js';
import type { Configuration } from './config/schema.js';
import { ConfigurationError } from './failures.js';
import { version } from './version.js';

export interface Geocoding {
  readonly geocoder: Geocoder | undefined;
  readonly ipGeocoder: IpGeocoder | undefined;
}

/**
 * Throws ConfigurationError if the provider needs a URL that is not given.
 * @param values paces the requests of all processes together.
 */
export function createGeocoding(
  { geocoding }: Configuration,
  values: ExpiringValues,
  observeCache: ObserveCache,
): Geocoding {
  const { contact, ipDatabase, ...settings } = geocoding;
  const { provider, url } = settings;
  if (provider !== 'gazetteer' && provider !== 'none' && !isHttpUrl(url))
    throw new ConfigurationError(
      `geocoding.url: must be an http or https URL, because geocoding.provider is ${provider}`,
    );
  const userAgent = `Fenceline/${version}${contact === '' ? '' : ` (${contact})`}`;
  return {
    geocoder: createGeocoder({ ...settings, userAgent, observeCache }, values),
    ipGeocoder: ipDatabase === '' ? undefined : createIpGeocoder(ipDatabase),
  };
}
