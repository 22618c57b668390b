/** Creates the geocoder and the database of IP addresses that are configured. */
import type { ObserveCache } from '../pipeline/cache-use.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { createGeocoder } from '../providers/geocoding/create.js';
import type { Geocoder } from '../providers/geocoding/geocoder.js';
import { createIpGeocoder, type IpGeocoder } from '../providers/geocoding/ip-database.js';
import type { Configuration } from './config/schema.js';
import { version } from './version.js';

interface Geocoding {
  readonly geocoder: Geocoder | undefined;
  readonly ipGeocoder: IpGeocoder | undefined;
}

/** Returns what the provider lacks. */
export const geocodingProblems = ({ geocoding: { provider, url } }: Configuration): readonly string[] =>
  provider !== 'gazetteer' && provider !== 'none' && url === ''
    ? [`geocoding.url: must be set, because geocoding.provider is ${provider}`]
    : [];

/**
 * Creates the geocoding of a node.
 * @param values paces the requests of all processes together.
 */
export function createGeocoding(
  { geocoding }: Configuration,
  values: ExpiringValues,
  observeCache: ObserveCache,
): Geocoding {
  const { contact, ipDatabase, ...settings } = geocoding;
  const userAgent = `Fenceline/${version}${contact === '' ? '' : ` (${contact})`}`;
  return {
    geocoder: createGeocoder({ ...settings, userAgent, observeCache }, values),
    ipGeocoder: ipDatabase === '' ? undefined : createIpGeocoder(ipDatabase),
  };
}
