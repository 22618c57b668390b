/** Reads the records of the read model: by id, by list, and for evaluation. */
import { importPartId, isId, syncId } from '../../../../schemas/ids.js';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { ErasureRecord } from '../../../../schemas/json/erasure.js';
import type { GeofenceHead, GeofenceRecord } from '../../../../schemas/json/geofence.js';
import type { ImportRecord } from '../../../../schemas/json/import.js';
import type { ProjectRecord } from '../../../../schemas/json/project.js';
import type { SyncRecord } from '../../../../schemas/json/sync.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { Position } from '../../../ports.js';
import type { ConfigurationReader, Scope } from '../../types.js';
import { type Databases, geofencesOfPlace, isSameScope, versionNames } from './databases.js';
import { expiryBound, idKey, type ListedKind } from './keys.js';
import { countOf, idsOfScope, readPage, search, walk } from './list-reader.js';
import type { Contested } from './revisions.js';
import { createScopedRecords } from './scoped-records.js';
import type { CompactFence } from './stored-fence.js';

export interface RecordReader extends Omit<ConfigurationReader, 'feed'> {
  /** Offset of the next change to apply. */
  readonly nextOffset: number;
  /** The next offset with the mark of the last applied change. */
  readonly position: Position;
  /** The latest applied `updatedAt`, epoch ms. */
  readonly latestTimestamp: number;
  /** Returns records whose newest changes were refused and which were not restored yet. */
  contested(limit: number): Contested[];
  /** Iterates over all fences for evaluation, by id. Coordinates are valid until the next fence is read. */
  compactFences(): Iterable<{ readonly scope: Scope; readonly id: string; readonly fence: CompactFence }>;
  compactFence(scope: Scope, id: string): CompactFence | undefined;
  allBeacons(): Iterable<BeaconRecord>;
  /**
   * Returns ids of geofences of any scope whose geometry differs from that of their place. Starts after the id `after`.
   */
  outdatedGeofences(limit: number, after?: string): string[];
  /** Returns the erasures of all projects. */
  allErasures(): readonly ErasureRecord[];
  /**
   * Returns the records of an environment, but for its project and its erasures: at most about `limit`, those that make
   * work first.
   */
  recordsOf(scope: Scope, limit: number): readonly RecordName[];
  /** Returns ids of geofences whose `deleteAfter` is before `nowMs`, oldest first. */
  expired(nowMs: number, limit: number): string[];
}

/** Names a record. */
export interface RecordName {
  readonly kind: ChangeKind;
  readonly id: string;
}

/** @param clock returns epoch ms, to compare with `deleteAfter`. */
export function createReader(databases: Databases, clock: () => number): RecordReader {
  const { meta, number, versionOf, projects, geofences, placedFences, beacons, webhooks, lists } = databases;
  const { expiries, revisions } = databases;
  const projectCache = new Map<string, ProjectRecord | undefined>();
  let projectCacheOffset = -1;

  /** Increases with every change, even when offsets restart. */
  const currentVersion = (): number => number('firstVersion') + number('nextOffset');
  const webhookLists = createScopedRecords(versionOf('webhook'), () => webhooks.getRange().map(({ value }) => value));

  let syncList: readonly SyncRecord[] = [];
  let syncListVersion = -1;
  function syncs(): readonly SyncRecord[] {
    const version = number(versionNames.sync);
    if (version !== syncListVersion) syncList = [...databases.syncs.getRange()].map(({ value }) => value);
    syncListVersion = version;
    return syncList;
  }
  const erasureLists = createScopedRecords(versionOf('erasure'), () =>
    databases.erasures.getRange().map(({ value }) => value),
  );

  /** Returns a project from a cache that is valid until any project changes. */
  function project(id: string): ProjectRecord | undefined {
    const offset = number(versionNames.project);
    if (offset !== projectCacheOffset) projectCache.clear();
    projectCacheOffset = offset;
    if (!projectCache.has(id)) {
      const record = isId(id) ? projects.get(idKey(id)) : undefined;
      if (record === undefined) return undefined;
      projectCache.set(id, record);
    }
    return projectCache.get(id);
  }

  const inScope = <T extends Scope>(record: T | undefined, scope: Scope): T | undefined =>
    record && isSameScope(record, scope) ? record : undefined;

  const storedGeofence = (scope: Scope, id: string): GeofenceRecord | undefined =>
    inScope(isId(id) ? geofences.get(idKey(id)) : undefined, scope);
  const storedGeofenceHead = (scope: Scope, id: string): GeofenceHead | undefined =>
    inScope(isId(id) ? databases.geofenceHeads.get(idKey(id)) : undefined, scope);
  const unlessGone = <T extends GeofenceHead>(record: T | undefined): T | undefined =>
    record !== undefined && clock() <= (record.deleteAfter ?? Infinity) ? record : undefined;
  const geofence = (scope: Scope, id: string): GeofenceRecord | undefined => unlessGone(storedGeofence(scope, id));
  const beacon = (scope: Scope, id: string): BeaconRecord | undefined =>
    inScope(isId(id) ? beacons.get(idKey(id)) : undefined, scope);

  const namesOf = (kind: ChangeKind, records: readonly { readonly _id: string }[]): RecordName[] =>
    records.map(({ _id }) => ({ kind, id: _id }));

  /** Names an import after the parts of its files, which only its record knows. */
  const namesOfImport = ({ _id, files }: ImportRecord): RecordName[] => [
    ...(['rejected', 'planned'] as const).flatMap((file) =>
      Array.from({ length: files[file].parts }, (_, index) => ({
        kind: 'import-part' as const,
        id: importPartId(_id, file, index),
      })),
    ),
    { kind: 'import', id: _id },
  ];

  function recordsOf(scope: Scope, limit: number): RecordName[] {
    const sync = databases.syncs.get(idKey(syncId(scope)));
    const importsOf = (resource: ImportRecord['resource']) =>
      databases.imports.list({ ...scope, resource, limit }).items.flatMap(namesOfImport);
    const listed = (kind: ListedKind) => idsOfScope(lists, kind, scope, limit).map((id) => ({ kind, id }));
    return [
      ...namesOf('sync', sync === undefined ? [] : [sync]),
      ...namesOf('webhook', webhookLists.list(scope)),
      ...importsOf('geofences'),
      ...importsOf('beacons'),
      ...listed('geofence'),
      ...listed('beacon'),
      ...namesOf('place', databases.places.list({ ...scope, limit }).items),
      ...namesOf('map-style', databases.mapStyles.list(scope)),
      ...namesOf('map-marker', databases.mapMarkers.list(scope)),
    ].slice(0, limit);
  }

  return {
    get version() {
      return currentVersion();
    },
    get projectsVersion() {
      return number(versionNames.project);
    },
    get position() {
      return { offset: number('nextOffset'), mark: (meta.get('mark') as string | undefined) || null };
    },
    get nextOffset() {
      return number('nextOffset');
    },
    get latestTimestamp() {
      return number('latestTimestamp');
    },
    revisionOf: revisions.revisionOf,
    bases: revisions.bases,
    contested: revisions.contested,
    project,
    projects: () => [...projects.getRange()].map(({ value }) => value),
    account: (id) => (isId(id) ? databases.accounts.get(idKey(id)) : undefined),
    geofence,
    storedGeofence,
    geofenceHead: (scope, id) => unlessGone(storedGeofenceHead(scope, id)),
    storedGeofenceHead,
    beacon,
    geofences: (query) => readPage(lists, 'geofence', query, (id) => geofence(query, id)),
    beacons: (query) => readPage(lists, 'beacon', query, (id) => beacon(query, id)),
    walkGeofences: (query, from, maxExamined) =>
      walk(lists, 'geofence', { ...query, from, maxExamined }, (id) => geofence(query, id)),
    walkBeacons: (query, from, maxExamined) =>
      walk(lists, 'beacon', { ...query, from, maxExamined }, (id) => beacon(query, id)),
    searchGeofences: (query) => search(lists, 'geofence', { ...query, nowMs: clock() }, (id) => geofence(query, id)),
    searchBeacons: (query) => search(lists, 'beacon', { ...query, nowMs: clock() }, (id) => beacon(query, id)),
    count: (kind, query) => countOf(lists, kind, query),
    webhook: webhookLists.find,
    webhooks: webhookLists.list,
    mapStyles: databases.mapStyles,
    mapMarkers: databases.mapMarkers,
    imports: databases.imports,
    sync: (scope) => databases.syncs.get(idKey(syncId(scope))),
    syncs,
    places: databases.places,
    geofencesOfPlace: (scope, placeId, limit) => geofencesOfPlace(databases, scope, placeId, limit),
    outdatedGeofences: (limit, after) =>
      [...databases.outdated.getKeys({ limit, ...(after !== undefined && { start: afterId(after) }) })].map((key) =>
        key.toString('hex'),
      ),
    erasure: erasureLists.find,
    erasures: erasureLists.list,
    allErasures: erasureLists.all,
    recordsOf,

    *compactFences() {
      for (const { key, value } of placedFences.getRange()) {
        yield { scope: value.scope, id: key.toString('hex'), fence: value.fence };
      }
    },
    compactFence(scope, id) {
      const placed = placedFences.get(idKey(id));
      return placed && isSameScope(placed.scope, scope) ? placed.fence : undefined;
    },
    *allBeacons() {
      for (const { value } of beacons.getRange()) yield value;
    },
    expired: (nowMs, limit) =>
      [...expiries.getRange({ end: expiryBound(nowMs), limit })].map(({ key }) => key.toString('hex', key.length - 12)),
  };
}

/** Returns the key after that of an id. */
const afterId = (id: string): Buffer => Buffer.concat([idKey(id), Buffer.of(0)]);
