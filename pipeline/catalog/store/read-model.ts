/**
 * The node's read model of the configuration, in one LMDB file.
 *
 * Input: changes in the order of topic `changes`, applied in one transaction together with the offset after them.
 * Output: records by id and by list, fences in a form that loads quickly, and a feed of changes, by which other threads
 * that opened the same file follow. One instance applies changes; any number of instances in any thread read.
 *
 * The store may import `schemas`, `pipeline/geometry`, `pipeline/evaluation` and the files of `pipeline/` itself, but
 * neither `catalog/index` nor `catalog/queries`.
 */
import { open } from 'lmdb';
import { importPartId, placeRecordId, syncId } from '../../../schemas/ids.js';
import type { AccountRecord } from '../../../schemas/json/account.js';
import type { BeaconRecord } from '../../../schemas/json/beacon.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import type { ImportPartRecord, ImportRecord } from '../../../schemas/json/import.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../../schemas/json/map.js';
import type { PlaceRecord } from '../../../schemas/json/place.js';
import type { ProjectRecord } from '../../../schemas/json/project.js';
import type { SyncRecord } from '../../../schemas/json/sync.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { ChangeKind } from '../../../schemas/records.js';
import type { MapMarkerHead, MapStyleHead } from '../../../schemas/wire/map.js';
import type { Position } from '../../ports.js';
import type { ChangedThing, ConfigurationReader, DecodedChange, EditOutcome, PreparedFence, Scope } from '../types.js';
import { endOfList, expiryBound, expiryKey, idKey, idOfListKey, isId, type ListedKind, listPrefix } from './keys.js';
import { countOf, createListWriter, idsOfScope, readPage, search, walk } from './lists.js';
import { type Contested, openRevisions, PendingEdits } from './revisions.js';
import { createScopedRecords } from './scoped-records.js';
import {
  type CompactFence,
  decodeCompactFence,
  decodeFence,
  encodeFence,
  noVersion,
  scopeOfFence,
  setVersion,
  versionOfFence,
} from './stored-fence.js';
import { openStoredFiles, recordOfMarker, recordOfStyle, storedMarker, storedStyle } from './stored-files.js';
import { openStoredImports } from './stored-imports.js';
import { openStoredPlaces } from './stored-places.js';

export interface ReadModelOptions {
  /** Returns epoch ms, to compare with `deleteAfter`. */
  readonly clock?: () => number;
  /** Number of changes in the feed. A follower that is further behind must load everything again. */
  readonly feedRecords?: number;
  /** Runs a transaction. May repeat one that failed, because it wrote nothing. Default: runs it once. */
  readonly commit?: (transaction: () => Promise<void>) => Promise<void>;
}

export interface ReadModel extends ConfigurationReader {
  /** Offset of the next change to apply. */
  readonly nextOffset: number;
  /** The next offset with the mark of the last applied change. */
  readonly position: Position;
  /** The latest applied `updatedAt`, epoch ms. */
  readonly latestTimestamp: number;
  /**
   * Makes changes visible that other threads have applied. Without it they become visible in the next turn of the event
   * loop.
   */
  refresh(): void;
  /**
   * Applies changes in order; resolves when readers see them. Calls may overlap and are applied in their order: a
   * commit waits for the disk, and the next transaction runs meanwhile. The changes must come from
   * `createChangeDecoder`. After an unexpected rejection the same changes can be applied again.
   */
  apply(changes: readonly DecodedChange[], nextOffset: number, mark?: string | null): Promise<void>;
  /** Outcomes of the edits that this instance applies or refuses. */
  readonly edits: PendingEdits;
  /** Returns records whose newest changes were refused and which were not restored yet. */
  contested(limit: number): Contested[];
  /** Returns the record of any scope, even after its `deleteAfter`; null if there is none. */
  record(kind: ChangeKind, id: string): DecodedChange['record'];
  /**
   * Starts again at the first change of a topic that was replaced. Deletes records for which `isKept` is false; the
   * others stay visible until the topic changes them. Following instances load everything again. No `apply` may run
   * meanwhile.
   */
  restart(isKept: (kind: ChangeKind, id: string) => boolean): Promise<void>;
  /** Resolves when this instance has applied everything before `offset`. */
  waitFor(offset: number): Promise<void>;
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
  close(): Promise<void>;
}

/** Names a record. */
export interface RecordName {
  readonly kind: ChangeKind;
  readonly id: string;
}

type ListedRecord = GeofenceRecord | BeaconRecord;

/**
 * Version of the stored format. A read model of another format is rebuilt from topic `changes`; the caller compares
 * before opening it.
 */
export const readModelFormat = 7;

const mapSizeBytes = 64 * 2 ** 30;
const noValue = Buffer.alloc(0);

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
const versionNames = {
  project: 'projectsOffset',
  webhook: 'webhooksOffset',
  'map-style': 'mapStylesOffset',
  'map-marker': 'mapMarkersOffset',
  sync: 'syncsOffset',
  erasure: 'erasuresOffset',
} as const satisfies Partial<Record<ChangeKind, string>>;
type VersionedKind = keyof typeof versionNames;

function openDatabases(path: string) {
  const root = open({ path, mapSize: mapSizeBytes, maxDbs: 64, eventTurnBatching: false });
  const json = { encoding: 'json', keyEncoding: 'binary' } as const;
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const meta = root.openDB<number | string, string>('meta', {});
  const versionOf = (kind: VersionedKind) => () => (meta.get(versionNames[kind]) as number | undefined) ?? 0;
  const storedFences = root.openDB<Buffer, Buffer>('geofences', binary);

  const firstVersion = (): number => (meta.get('firstVersion') as number | undefined) ?? 0;

  /** Versions before the first are of a topic that was replaced. */
  function revisionOfFence(id: Buffer, first = firstVersion()): number | null | undefined {
    const stored = storedFences.getBinaryFast(id);
    if (stored === undefined) return undefined;
    const revision = versionOfFence(asBuffer(stored)) - first;
    return revision < 0 ? null : revision;
  }
  return {
    root,
    meta,
    projects: root.openDB<ProjectRecord, Buffer>('projects', json),
    storedFences,
    /** The same database, decoded. */
    geofences: root.openDB<GeofenceRecord, Buffer>('geofences', inStoredForm(decodeFence)),
    /** The same database, decoded for evaluation. */
    placedFences: root.openDB<PlacedFence, Buffer>('geofences', inStoredForm(decodePlacedFence)),
    beacons: root.openDB<BeaconRecord, Buffer>('beacons', json),
    webhooks: root.openDB<WebhookRecord, Buffer>('webhooks', json),
    mapStyles: openStoredFiles<MapStyleHead>(root, 'mapStyles', versionOf('map-style')),
    mapMarkers: openStoredFiles<MapMarkerHead>(root, 'mapMarkers', versionOf('map-marker')),
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
type Databases = ReturnType<typeof openDatabases>;

/** Returns a line of the feed: kind and id, then project and environment if the record has them. */
const feedLine = ({ kind, id, scope }: ChangedThing): string =>
  scope ? `${kind}/${id}/${scope.project}/${scope.environment}` : `${kind}/${id}`;

function thingOfLine(line: string): ChangedThing {
  const [kind = '', id = '', project, environment] = line.split('/');
  const scope = project && environment ? { project, environment: environment as Scope['environment'] } : null;
  return { kind: kind as ChangeKind, id, scope };
}

const isSameScope = (a: Scope, b: Scope): boolean => a.project === b.project && a.environment === b.environment;

/** A call of `apply` that has not ended. */
interface ApplyCall {
  readonly nextOffset: number;
  readonly applied: Promise<void>;
}

/** Ends a transaction that has written nothing, because the one before it was not committed. */
class EarlierFailed extends Error {}

/** Opens or creates the read model in the directory `path`. */
export function openReadModel(path: string, options: ReadModelOptions = {}): ReadModel {
  const { clock = Date.now, feedRecords = 100_000, commit = (transaction) => transaction() } = options;
  const databases = openDatabases(path);
  const { root, meta, projects, geofences, placedFences, beacons, webhooks, lists, expiries, feed, revisions } =
    databases;
  const edits = new PendingEdits();
  const applier = createApplier(databases);
  const waiters = new Set<{ readonly offset: number; readonly resolve: () => void }>();
  const projectCache = new Map<string, ProjectRecord | undefined>();
  let projectCacheOffset = -1;

  const number = (name: string): number => (meta.get(name) as number | undefined) ?? 0;
  /** Increases with every change, even when offsets restart. */
  const currentVersion = (): number => number('firstVersion') + number('nextOffset');
  const webhookLists = createScopedRecords(
    () => number(versionNames.webhook),
    () => webhooks.getRange().map(({ value }) => value),
  );

  let syncList: readonly SyncRecord[] = [];
  let syncListVersion = -1;
  function syncs(): readonly SyncRecord[] {
    const version = number(versionNames.sync);
    if (version !== syncListVersion) syncList = [...databases.syncs.getRange()].map(({ value }) => value);
    syncListVersion = version;
    return syncList;
  }
  const erasureLists = createScopedRecords(
    () => number(versionNames.erasure),
    () => databases.erasures.getRange().map(({ value }) => value),
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

  const inScope = <T extends ListedRecord>(record: T | undefined, scope: Scope): T | undefined =>
    record && isSameScope(record, scope) ? record : undefined;

  const storedGeofence = (scope: Scope, id: string): GeofenceRecord | undefined =>
    inScope(isId(id) ? geofences.get(idKey(id)) : undefined, scope);
  function geofence(scope: Scope, id: string): GeofenceRecord | undefined {
    const record = storedGeofence(scope, id);
    return record !== undefined && clock() <= (record.deleteAfter ?? Infinity) ? record : undefined;
  }
  const beacon = (scope: Scope, id: string): BeaconRecord | undefined =>
    inScope(isId(id) ? beacons.get(idKey(id)) : undefined, scope);

  function* allKeys(): Iterable<{ readonly kind: ChangeKind; readonly id: string }> {
    const kinds = {
      project: projects,
      geofence: geofences,
      beacon: beacons,
      webhook: webhooks,
      'map-style': databases.mapStyles,
      'map-marker': databases.mapMarkers,
      import: databases.imports,
      'import-part': { getKeys: databases.imports.getPartKeys },
      place: databases.places,
      sync: databases.syncs,
      account: databases.accounts,
      erasure: databases.erasures,
    } satisfies Record<ChangeKind, { getKeys(): Iterable<Buffer> }>;
    for (const [kind, things] of Object.entries(kinds)) {
      for (const key of things.getKeys()) yield { kind: kind as ChangeKind, id: key.toString('hex') };
    }
  }

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

  function notifyWaiters(offset: number): void {
    for (const waiter of waiters) {
      if (waiter.offset > offset) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Runs a transaction after that of an earlier call, which is repeated first if its commit failed. */
  async function committed(write: () => void, earlier: ApplyCall | undefined): Promise<void> {
    for (;;) {
      try {
        return await commit(() => root.transaction(write));
      } catch (error) {
        if (!(error instanceof EarlierFailed)) throw error;
        await earlier?.applied;
      }
    }
  }

  async function applyAfter(
    earlier: ApplyCall | undefined,
    changes: readonly DecodedChange[],
    nextOffset: number,
    mark: string | null,
  ): Promise<void> {
    let outcomes: (readonly [edit: string, outcome: EditOutcome])[] = [];
    const write = (): void => {
      if (earlier !== undefined && number('nextOffset') !== earlier.nextOffset) throw new EarlierFailed();
      outcomes = [];
      applier.begin();
      revisions.beginSync();
      const firstVersion = number('firstVersion');
      const version = firstVersion + nextOffset;
      const applied: DecodedChange[] = [];
      const things: ChangedThing[] = [];
      for (const change of changes) {
        const { kind, id, origin, prepared } = change;
        const versionOfChange = origin === undefined ? noVersion : firstVersion + origin.offset;
        const isCreated = prepared?.base === null && applier.create(id, prepared, versionOfChange);
        const held = isCreated ? undefined : revisions.heldRevision(kind, id, firstVersion);
        const isAtBase = isCreated || (prepared !== undefined && prepared.base !== null && held === prepared.base);
        if (origin !== undefined) {
          const isDeletion = prepared === undefined && change.record === null;
          const outcome = revisions.admitSync({ kind, id, isDeletion }, origin, held);
          if (origin.edit !== null) outcomes.push([origin.edit, outcome]);
          if (outcome.kind === 'refused') {
            if (isCreated) applier.undoCreation(id);
            continue;
          }
        }
        applied.push(change);
        if (isCreated) things.push(applier.list(id, prepared));
        else if (isAtBase) things.push(applier.replace(id, prepared, versionOfChange));
        else things.push(...applier.apply(change, versionOfChange));
      }
      applier.flush();
      if (things.length > 0) feed.putSync(version, things.map(feedLine).join('\n'));
      for (const key of [...feed.getKeys({ end: version - feedRecords + 1 })]) feed.removeSync(key);
      const latest = applied.reduce(
        // The record of a prepared change is decoded when it is read.
        (time, change) => Math.max(time, (change.prepared?.after ?? change.record)?.updatedAt ?? 0),
        number('latestTimestamp'),
      );
      meta.putSync('latestTimestamp', latest);
      for (const [kind, name] of Object.entries(versionNames)) {
        if (applied.some((change) => change.kind === kind)) meta.putSync(name, version);
      }
      revisions.forgetSync(changes.at(-1)?.origin?.timestampMs ?? 0);
      meta.putSync('nextOffset', nextOffset);
      meta.putSync('mark', mark ?? '');
    };
    await committed(write, earlier);
    for (const [edit, outcome] of outcomes) edits.settle(edit, outcome);
    notifyWaiters(nextOffset);
  }

  /** The newest call that has not ended. */
  let newest: ApplyCall | undefined;
  async function apply(changes: readonly DecodedChange[], nextOffset: number, mark: string | null = null) {
    const call = { nextOffset, applied: applyAfter(newest, changes, nextOffset, mark) };
    newest = call;
    try {
      await call.applied;
    } finally {
      if (newest === call) newest = undefined;
    }
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
    refresh: () => root.resetReadTxn(),
    edits,
    revisionOf: revisions.revisionOf,
    bases: revisions.bases,
    contested: revisions.contested,
    record: (kind, id) => recordOf(databases, kind, id),
    project,
    projects: () => [...projects.getRange()].map(({ value }) => value),
    account: (id) => (isId(id) ? databases.accounts.get(idKey(id)) : undefined),
    geofence,
    storedGeofence,
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

    apply,

    async restart(isKept) {
      const write = (): void => {
        applier.begin();
        for (const { kind, id } of [...allKeys()]) {
          if (!isKept(kind, id)) applier.apply({ kind, id, record: null }, noVersion);
        }
        applier.flush();
        revisions.clearSync();
        // Far enough that no follower finds its version in the feed.
        const version = currentVersion() + feedRecords + 1;
        meta.putSync('firstVersion', version);
        for (const name of Object.values(versionNames)) meta.putSync(name, version);
        meta.putSync('nextOffset', 0);
        meta.putSync('mark', '');
      };
      await commit(() => root.transaction(write));
    },

    async waitFor(offset) {
      if (number('nextOffset') >= offset) return;
      await new Promise<void>((resolve) => waiters.add({ offset, resolve }));
    },

    feed(fromVersion) {
      if (fromVersion < currentVersion() - feedRecords) return undefined;
      const things = new Map<string, ChangedThing>();
      for (const { value } of feed.getRange({ start: fromVersion + 1 })) {
        for (const line of value.split('\n')) things.set(line, thingOfLine(line));
      }
      return [...things.values()];
    },

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
    close: () => root.close(),
  };
}

/** Returns the key after that of an id. */
const afterId = (id: string): Buffer => Buffer.concat([idKey(id), Buffer.of(0)]);

function geofencesOfPlace({ lists }: Databases, scope: Scope, placeId: string, limit: number): string[] {
  const prefix = listPrefix('geofence', scope, 'placeId', placeId);
  const range = { start: prefix, end: endOfList(prefix), ...(Number.isFinite(limit) && { limit }) };
  return [...lists.getKeys(range)].map((key) => idOfListKey(key));
}

/** Returns the record as it was written. */
function recordOf(databases: Databases, kind: ChangeKind, id: string): DecodedChange['record'] {
  const { projects, geofences, beacons, webhooks, mapStyles, mapMarkers, imports, accounts } = databases;
  const key = idKey(id);
  switch (kind) {
    case 'project':
      return projects.get(key) ?? null;
    case 'geofence':
      return geofences.get(key) ?? null;
    case 'beacon':
      return beacons.get(key) ?? null;
    case 'webhook':
      return webhooks.get(key) ?? null;
    case 'map-style':
      return mapStyles.whole(id, recordOfStyle);
    case 'map-marker':
      return mapMarkers.whole(id, recordOfMarker);
    case 'import':
      return imports.whole(id);
    case 'import-part':
      return imports.wholePart(id);
    case 'place':
      return databases.places.get(id) ?? null;
    case 'sync':
      return databases.syncs.get(key) ?? null;
    case 'account':
      return accounts.get(key) ?? null;
    case 'erasure':
      return databases.erasures.get(key) ?? null;
  }
}

/** Writes changes to all databases. All must run in one write transaction. */
interface Applier {
  begin(): void;
  /** Writes one change. Returns the records that followers must read again. */
  apply(change: DecodedChange, version: number): ChangedThing[];
  /**
   * Stores a geofence that was prepared, unless there is one of its id. Returns whether it did: one search of the table
   * finds out and writes.
   */
  create(id: string, prepared: PreparedFence, version: number): boolean;
  undoCreation(id: string): void;
  /** Lists a geofence that `create` has stored. */
  list(id: string, prepared: PreparedFence): ChangedThing;
  /** Does the same as `apply` for a change that was prepared for the stored record. */
  replace(id: string, prepared: PreparedFence, version: number): ChangedThing;
  /** Writes what is collected for the whole transaction. */
  flush(): void;
}

function createApplier(databases: Databases): Applier {
  const { projects, geofences, storedFences, beacons, webhooks, mapStyles, mapMarkers, imports, places, accounts } =
    databases;
  const { expiries, outdated } = databases;
  const lists = createListWriter(databases.lists);

  /** Notes whether the geofence has the geometry of its place. It keeps its geometry when the place is deleted. */
  function compareWithPlace(record: GeofenceRecord): void {
    const source = record.geometrySource?.place;
    const place = source && places.get(placeRecordId(record.project, record.environment, source.id));
    if (place && place.geometryHash !== source.geometryHash) outdated.putSync(idKey(record._id), noValue);
    else outdated.removeSync(idKey(record._id));
  }

  function replacePlace(id: string, after: PlaceRecord | null): void {
    const before = places.get(id);
    places.replaceSync(id, after);
    const place = after ?? before;
    if (place === undefined || before?.geometryHash === after?.geometryHash) return;
    for (const geofence of geofencesOfPlace(databases, place, place.placeId, Infinity)) {
      const record = geofences.get(idKey(geofence));
      if (record) compareWithPlace(record);
    }
  }

  const followsPlace = (record: GeofenceRecord | null | undefined): boolean => record?.geometrySource?.place != null;

  function replaceGeofence(
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

  function replaceBeacon(id: string, after: BeaconRecord | null): void {
    if (after) beacons.putSync(idKey(id), after);
    else beacons.removeSync(idKey(id));
  }

  /** Returns the old and the new scope of a record, because followers keep records by scope. */
  const touched = (kind: ListedKind, id: string, records: (ListedRecord | null | undefined)[]): ChangedThing[] =>
    records
      .filter((record) => record != null)
      .map(({ project, environment }) => ({ kind, id, scope: { project, environment } }));

  function apply(change: DecodedChange, version: number): ChangedThing[] {
    const { kind, id, record } = change;
    if (kind === 'erasure') {
      if (record) databases.erasures.putSync(idKey(id), record as ErasureRecord);
      else databases.erasures.removeSync(idKey(id));
      return [];
    }
    if (kind === 'project') {
      if (record) projects.putSync(idKey(id), record as ProjectRecord);
      else projects.removeSync(idKey(id));
      return [{ kind, id, scope: null }];
    }
    if (kind === 'webhook') {
      if (record) webhooks.putSync(idKey(id), record as WebhookRecord);
      else webhooks.removeSync(idKey(id));
      // Evaluation follows the feed, and does not use webhooks.
      return [];
    }
    if (kind === 'map-style') {
      mapStyles.replaceSync(id, record && storedStyle(record as MapStyleRecord));
      return [];
    }
    if (kind === 'place') {
      replacePlace(id, record as PlaceRecord | null);
      return [];
    }
    if (kind === 'map-marker') {
      mapMarkers.replaceSync(id, record && storedMarker(record as MapMarkerRecord));
      return [];
    }
    if (kind === 'sync') {
      if (record) databases.syncs.putSync(idKey(id), record as SyncRecord);
      else databases.syncs.removeSync(idKey(id));
      return [];
    }
    if (kind === 'import') {
      imports.replaceSync(id, record as ImportRecord | null);
      return [];
    }
    if (kind === 'import-part') {
      imports.replacePartSync(id, record as ImportPartRecord | null);
      return [];
    }
    if (kind === 'account') {
      if (record) accounts.putSync(idKey(id), record as AccountRecord);
      else accounts.removeSync(idKey(id));
      return [];
    }
    const after = record as ListedRecord | null;
    const before = kind === 'geofence' ? geofences.get(idKey(id)) : beacons.get(idKey(id));
    lists.relist(kind, before, after);
    if (kind === 'geofence')
      replaceGeofence(change, version, before as GeofenceRecord | undefined, after as GeofenceRecord | null);
    else replaceBeacon(id, after as BeaconRecord | null);
    return touched(kind, id, before && after && isSameScope(before, after) ? [after] : [before, after]);
  }

  function create(id: string, prepared: PreparedFence, version: number): boolean {
    setVersion(prepared.stored, version);
    // The package's types lack the result.
    return storedFences.putSync(idKey(id), prepared.stored, { noOverwrite: true }) as unknown as boolean;
  }

  function list(id: string, prepared: PreparedFence): ChangedThing {
    lists.relistPrepared(id, prepared);
    return { kind: 'geofence', id, scope: prepared.scope };
  }

  function replace(id: string, prepared: PreparedFence, version: number): ChangedThing {
    setVersion(prepared.stored, version);
    storedFences.putSync(idKey(id), prepared.stored);
    return list(id, prepared);
  }

  const undoCreation = (id: string): void => {
    storedFences.removeSync(idKey(id));
  };

  return { begin: lists.reset, apply, create, undoCreation, list, replace, flush: lists.flushSync };
}
