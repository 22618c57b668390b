/** Writes geofences with what is derived from them: when they expire, and whether their place has another geometry. */
import { placeRecordId } from '../../../../schemas/ids.js';
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import type { PlaceRecord } from '../../../../schemas/json/place.js';
import type { DecodedChange } from '../../types.js';
import { type Databases, storedGeofencesOfPlace } from '../tables/databases.js';
import { expiryKey, idKey, noValue } from '../tables/keys.js';
import { encodeFence } from '../tables/stored-fence.js';

/** Writes geofences and places, except for their lists. All calls must run in a write transaction. */
interface GeofenceWriter {
  replaceSync(
    change: DecodedChange,
    version: number,
    before: GeofenceRecord | undefined,
    after: GeofenceRecord | null,
  ): void;
  replacePlaceSync(id: string, after: PlaceRecord | null): void;
}

const followsPlace = (record: GeofenceRecord | null | undefined): boolean => record?.geometrySource?.place != null;

/**
 * Creates the writer of geofences. It also notes the geofences that a changed place leaves outdated, for the follower
 * of places.
 */
export function createGeofenceWriter(databases: Databases): GeofenceWriter {
  const { geofences, storedFences, places, expiries, outdated } = databases;

  /** Notes whether the geofence has the geometry of its place. It keeps its geometry when the place is deleted. */
  function compareWithPlace(record: GeofenceRecord): void {
    const source = record.geometrySource?.place;
    const place = source && places.get(placeRecordId(record.project, record.environment, source.id));
    if (place && place.geometryHash !== source.geometryHash) outdated.putSync(idKey(record._id), noValue);
    else outdated.removeSync(idKey(record._id));
  }

  function replacePlaceSync(id: string, after: PlaceRecord | null): void {
    const before = places.get(id);
    places.replaceSync(id, after);
    const place = after ?? before;
    if (place === undefined || before?.geometryHash === after?.geometryHash) return;
    for (const geofence of [...storedGeofencesOfPlace(databases, place, place.placeId)]) {
      const record = geofences.get(idKey(geofence));
      if (record) compareWithPlace(record);
    }
  }

  function replaceSync(
    { id, text }: DecodedChange,
    version: number,
    before: GeofenceRecord | undefined,
    after: GeofenceRecord | null,
  ): void {
    const due = before?.deleteAfter ?? null;
    if (due !== null) expiries.removeSync(expiryKey(due, id));
    if (after === null) {
      storedFences.removeSync(idKey(id));
      outdated.removeSync(idKey(id));
      return;
    }
    storedFences.putSync(idKey(id), encodeFence(after, version, text));
    if (followsPlace(before) || followsPlace(after)) compareWithPlace(after);
    if (after.deleteAfter !== null) expiries.putSync(expiryKey(after.deleteAfter, id), noValue);
  }

  return { replaceSync, replacePlaceSync };
}
