/** Makes the stored record of a geofence. */
import { find, setCache } from 'geo-tz/all';
import { LRUCache } from 'lru-cache';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import { pairId } from '../../schemas/ids.js';
import type { Position } from '../../schemas/json/common.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { Pair } from '../paired/fields.js';
import type { GeofenceInput } from './fields.js';

/** Returns the `_id`, which is derived from the pair, so that two creations write the same record. */
export const geofenceId = ({ project, environment }: Scope, { tag, externalId }: Pair): string =>
  pairId('geofence', project, environment, tag, externalId);

/**
 * Returns the record that an edit by pair replaces; undefined if the edit creates a geofence.
 *
 * A geofence past its `deleteAfter` is absent, so an edit that lets it live on creates another one. An edit that does
 * not is one of the record that is still stored for late locations: with a new time of creation, devices inside would
 * lose their exits.
 * @param deleteAfter of the edit.
 */
export function replacedGeofence(
  configuration: Pick<ConfigurationReader, 'geofence' | 'storedGeofence'>,
  scope: Scope,
  id: string,
  deleteAfter: number | null,
): GeofenceRecord | undefined {
  const shown = configuration.geofence(scope, id);
  if (shown !== undefined || deleteAfter === null) return shown;
  const expired = configuration.storedGeofence(scope, id);
  return deleteAfter <= (expired?.deleteAfter ?? Number.NEGATIVE_INFINITY) ? expired : undefined;
}

/**
 * Returns the whole record. Fields that the owner left out are cleared; the time of creation is kept.
 * @param existing the record that is replaced, if any.
 * @param nowMs a time that no other record of this node has.
 * @param id the id of the pair, if the caller has it.
 */
export function geofenceRecord(
  scope: Scope,
  input: GeofenceInput,
  existing: GeofenceRecord | undefined,
  nowMs: number,
  id = geofenceId(scope, input),
): GeofenceRecord {
  const sameCenter = existing?.center[0] === input.center[0] && existing.center[1] === input.center[1];
  return {
    _id: id,
    project: scope.project,
    environment: scope.environment,
    createdAt: existing?.createdAt ?? nowMs,
    updatedAt: nowMs,
    ...input,
    timeZone: sameCenter ? existing.timeZone : timeZoneAt(input.center),
  };
}

/** Bounds the cache of zone boundaries, which would grow to half a gigabyte. */
const maxCachedShapes = 200;

setCache({ store: new LRUCache<string, object>({ max: maxCachedShapes }) });

/**
 * Returns the IANA name of the time zone at a position. Of the several zones of a disputed or polar place it is the
 * first. Reads files on the first use of a region.
 */
const timeZoneAt = ([longitude, latitude]: Position): string => find(latitude, longitude)[0] ?? 'Etc/UTC';
