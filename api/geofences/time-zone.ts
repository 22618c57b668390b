/** The time zone of a place, asked once when a geofence is written and kept with it. */
import { find, setCache } from 'geo-tz/all';
import { LRUCache } from 'lru-cache';
import type { Position } from '../../schemas/json/common.js';

// Boundaries of the zones looked at lately. Without a bound they grow to half a gigabyte.
const maxCachedShapes = 200;
setCache({ store: new LRUCache<string, object>({ max: maxCachedShapes }) });

/**
 * IANA name. Of the several zones of a disputed or polar place it is the first; reads files on first use of a region.
 */
export const timeZoneAt = ([longitude, latitude]: Position): string => find(latitude, longitude)[0] ?? 'Etc/UTC';
