/** The databases of the read model, in one LMDB file. */
import { open } from 'lmdb';
import type { AccountRecord } from '../../../../schemas/json/account.js';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { ErasureRecord } from '../../../../schemas/json/erasure.js';
import type { GeofenceHead, GeofenceRecord } from '../../../../schemas/json/geofence.js';
import type { ProjectRecord } from '../../../../schemas/json/project.js';
import type { SyncRecord } from '../../../../schemas/json/sync.js';
import type { WebhookRecord } from '../../../../schemas/json/webhook.js';
import { fewFreePages } from '../../../../schemas/lmdb-options.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { MapMarkerHead, MapStyleHead } from '../../../../schemas/wire/map.js';
import type { Scope } from '../../types.js';
import type { RecordSource } from './cached-records.js';
import { endOfList, idKey, idOfListKey, listPrefix } from './keys.js';
import { openRecentChanges } from './recent-changes.js';
import { openRevisions } from './revisions.js';
import {
  type CompactFence,
  decodeCompactFence,
  decodeFence,
  decodeFenceHead,
  deleteAfterOfFence,
  scopeOfFence,
  versionOfFence,
} from './stored-fence.js';
import { openStoredFiles } from './stored-files.js';
import { openStoredImports } from './stored-imports.js';
import { openStoredPlaces } from './stored-places.js';

const mapSizeBytes = 64 * 2 ** 30;

/** A fence for evaluation with its scope. Its coordinates are valid until the next fence is read. */
interface PlacedFence {
  readonly scope: Scope;
  readonly fence: CompactFence;
}

const decodePlacedFence = (stored: Buffer): PlacedFence => ({
  scope: scopeOfFence(stored),
  fence: decodeCompactFence(stored),
});

/** Decodes directly from LMDB's buffer, which the next read overwrites. */
const inStoredForm = <T>(decode: (stored: Buffer) => T) => ({
  keyEncoding: 'binary' as const,
  encoder: { encode: unwritten, decode: (bytes: Uint8Array) => decode(asBuffer(bytes)) },
});

const unwritten = (): never => {
  throw new Error('geofences are written in stored form');
};

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Names of the entries of `meta` with the version of the latest change of a kind. Caches of the kind are valid until it
 * changes.
 */
export const versionNames = {
  project: 'projectsOffset',
  webhook: 'webhooksOffset',
  'map-style': 'mapStylesOffset',
  'map-marker': 'mapMarkersOffset',
  sync: 'syncsOffset',
  erasure: 'erasuresOffset',
} as const satisfies Partial<Record<ChangeKind, string>>;
/** Kinds whose records are cached in memory. */
export type VersionedKind = keyof typeof versionNames;

/**
 * Opens all databases of the file at `path`, which is created if it is missing.
 * @param feedRecords number of versions that feeds of changes reach back.
 */
export function openDatabases(path: string, feedRecords: number) {
  const root = open({ path, mapSize: mapSizeBytes, maxDbs: 64, eventTurnBatching: false, ...fewFreePages });
  const json = { encoding: 'json', keyEncoding: 'binary' } as const;
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const meta = root.openDB<number | string, string>('meta', {});
  const number = (name: string): number => (meta.get(name) as number | undefined) ?? 0;
  const recent = openRecentChanges(root, () => number('firstVersion') + number('nextOffset'), feedRecords);
  /** Returns the changes of a kind, for a cache of its records. */
  const changesOf = (kind: VersionedKind): Pick<RecordSource<never>, 'version' | 'changedSince'> => ({
    version: () => number(versionNames[kind]),
    changedSince: (version) => recent.since(kind, version),
  });
  const storedFences = root.openDB<Buffer, Buffer>('geofences', binary);

  /** Versions before the first are of a topic that was replaced. */
  function revisionOfFence(id: Buffer, first = number('firstVersion')): number | null | undefined {
    const stored = storedFences.getBinaryFast(id);
    if (stored === undefined) return undefined;
    const revision = versionOfFence(asBuffer(stored)) - first;
    return revision < 0 ? null : revision;
  }
  return {
    root,
    meta,
    /** Returns a number of `meta`; 0 if it is not set. */
    number,
    changesOf,
    recent,
    projects: root.openDB<ProjectRecord, Buffer>('projects', json),
    storedFences,
    /** The same database, decoded. */
    geofences: root.openDB<GeofenceRecord, Buffer>('geofences', inStoredForm(decodeFence)),
    /** The same database, decoded without rings. */
    geofenceHeads: root.openDB<GeofenceHead, Buffer>('geofences', inStoredForm(decodeFenceHead)),
    /** The same database, decoded for evaluation. */
    placedFences: root.openDB<PlacedFence, Buffer>('geofences', inStoredForm(decodePlacedFence)),
    beacons: root.openDB<BeaconRecord, Buffer>('beacons', json),
    webhooks: root.openDB<WebhookRecord, Buffer>('webhooks', json),
    mapStyles: openStoredFiles<MapStyleHead>(root, 'mapStyles', changesOf('map-style')),
    mapMarkers: openStoredFiles<MapMarkerHead>(root, 'mapMarkers', changesOf('map-marker')),
    imports: openStoredImports(root),
    places: openStoredPlaces(root),
    syncs: root.openDB<SyncRecord, Buffer>('syncs', json),
    accounts: root.openDB<AccountRecord, Buffer>('accounts', json),
    erasures: root.openDB<ErasureRecord, Buffer>('erasures', json),
    lists: root.openDB<Buffer, Buffer>('lists', binary),
    /** Geofences whose place has another geometry. */
    outdated: root.openDB<Buffer, Buffer>('outdatedGeofences', binary),
    expiries: root.openDB<Buffer, Buffer>('expiries', binary),
    /** By the version after a batch: its changed records, one per line. */
    feed: root.openDB<string, number>('feed', {}),
    revisions: openRevisions(root, { geofence: { revisionOf: revisionOfFence } }),
  };
}
/** The open databases of one read model. They close with their file. */
export type Databases = ReturnType<typeof openDatabases>;

/** Iterates over the ids of the stored geofences of a place, also of those past `deleteAfter`. */
export function storedGeofencesOfPlace({ lists }: Databases, scope: Scope, placeId: string): Iterable<string> {
  const prefix = listPrefix('geofence', scope, 'placeId', placeId);
  return lists.getKeys({ start: prefix, end: endOfList(prefix) }).map((key) => idOfListKey(key));
}

/** Returns ids of the geofences of a place that are not past `deleteAfter`, at most `limit`. */
export function geofencesOfPlace(
  databases: Databases,
  scope: Scope,
  placeId: string,
  { limit, nowMs }: { readonly limit: number; readonly nowMs: number },
): string[] {
  const ids: string[] = [];
  for (const id of storedGeofencesOfPlace(databases, scope, placeId)) {
    if (ids.length === limit) break;
    const stored = databases.storedFences.getBinaryFast(idKey(id));
    if (stored !== undefined && nowMs <= deleteAfterOfFence(asBuffer(stored))) ids.push(id);
  }
  return ids;
}
