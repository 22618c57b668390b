/** What the read model does with each kind of record. */
import type { Database } from 'lmdb';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import type { ImportPartRecord, ImportRecord } from '../../../../schemas/json/import.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../../../schemas/json/map.js';
import type { PlaceRecord } from '../../../../schemas/json/place.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import { isSameScope } from '../../scope.js';
import type { ChangedThing, DecodedChange } from '../../types.js';
import type { Databases } from '../tables/databases.js';
import { idKey, type ListedKind } from '../tables/keys.js';
import { recordOfMarker, recordOfStyle, storedMarker, storedStyle } from '../tables/stored-files.js';
import { createGeofenceWriter } from './geofence-writer.js';
import type { ListWriter } from './list-writer.js';

type AnyRecord = NonNullable<DecodedChange['record']>;
type ListedRecord = GeofenceRecord | BeaconRecord;

/** How one kind of record is stored. `id` is an `_id` of any scope. */
export interface Kind {
  /** Iterates over the keys of all records. */
  getKeys(): Iterable<Buffer>;
  /** Returns the record as it was written; null if there is none. */
  record(id: string): AnyRecord | null;
  /** Puts or removes a record. Returns what followers must read again. Must run in a write transaction. */
  applySync(change: DecodedChange, version: number): ChangedThing[];
}

/** Evaluation follows the feed, and needs only projects, geofences and beacons. */
const withoutFollowers =
  (replaceSync: (id: string, record: AnyRecord | null) => void): Kind['applySync'] =>
  ({ id, record }) => {
    replaceSync(id, record);
    return [];
  };

const putOrRemove = <T extends AnyRecord>(table: Database<T, Buffer>, id: string, record: AnyRecord | null): void => {
  if (record) table.putSync(idKey(id), record as T);
  else table.removeSync(idKey(id));
};

/** A kind that is stored in one table by id. */
const plain = <T extends AnyRecord>(table: Database<T, Buffer>): Kind => ({
  getKeys: () => table.getKeys(),
  record: (id) => table.get(idKey(id)) ?? null,
  applySync: withoutFollowers((id, record) => putOrRemove(table, id, record)),
});

/** Returns the old and the new scope of a record, because followers keep records by scope. */
const touched = (
  kind: ListedKind,
  id: string,
  before: ListedRecord | undefined,
  after: ListedRecord | null,
): ChangedThing[] =>
  (before && after && isSameScope(before, after) ? [after] : [before, after])
    .filter((record) => record != null)
    .map(({ project, environment }) => ({ kind, id, scope: { project, environment } }));

/** Creates the kinds over the open databases. Their writes must run in a write transaction. */
export function createKinds(databases: Databases, lists: ListWriter): Readonly<Record<ChangeKind, Kind>> {
  const { geofences, beacons, mapStyles, mapMarkers, imports, places } = databases;
  const geofenceWriter = createGeofenceWriter(databases);

  return {
    project: {
      ...plain(databases.projects),
      applySync({ kind, id, record }) {
        putOrRemove(databases.projects, id, record);
        return [{ kind, id, scope: null }];
      },
    },
    geofence: {
      getKeys: () => geofences.getKeys(),
      record: (id) => geofences.get(idKey(id)) ?? null,
      applySync(change, version) {
        const before = geofences.get(idKey(change.id));
        const after = change.record as GeofenceRecord | null;
        lists.relist('geofence', before, after);
        geofenceWriter.replaceSync(change, version, before, after);
        return touched('geofence', change.id, before, after);
      },
    },
    beacon: {
      ...plain(beacons),
      applySync({ id, record }) {
        const before = beacons.get(idKey(id));
        const after = record as BeaconRecord | null;
        lists.relist('beacon', before, after);
        putOrRemove(beacons, id, after);
        return touched('beacon', id, before, after);
      },
    },
    webhook: plain(databases.webhooks),
    'map-style': {
      getKeys: () => mapStyles.getKeys(),
      record: (id) => mapStyles.whole(id, recordOfStyle),
      applySync: withoutFollowers((id, record) =>
        mapStyles.replaceSync(id, record && storedStyle(record as MapStyleRecord)),
      ),
    },
    'map-marker': {
      getKeys: () => mapMarkers.getKeys(),
      record: (id) => mapMarkers.whole(id, recordOfMarker),
      applySync: withoutFollowers((id, record) =>
        mapMarkers.replaceSync(id, record && storedMarker(record as MapMarkerRecord)),
      ),
    },
    import: {
      getKeys: () => imports.getKeys(),
      record: (id) => imports.whole(id),
      applySync: withoutFollowers((id, record) => imports.replaceSync(id, record as ImportRecord | null)),
    },
    'import-part': {
      getKeys: () => imports.getPartKeys(),
      record: (id) => imports.wholePart(id),
      applySync: withoutFollowers((id, record) => imports.replacePartSync(id, record as ImportPartRecord | null)),
    },
    place: {
      getKeys: () => places.getKeys(),
      record: (id) => places.get(id) ?? null,
      applySync: withoutFollowers((id, record) => geofenceWriter.replacePlaceSync(id, record as PlaceRecord | null)),
    },
    sync: plain(databases.syncs),
    account: plain(databases.accounts),
    erasure: plain(databases.erasures),
  };
}
