/** Reads the records of the read model: by id, by list, and for evaluation. */
import type { Database } from 'lmdb';
import { syncId } from '../../../../schemas/ids.js';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { ErasureRecord } from '../../../../schemas/json/erasure.js';
import type { Position } from '../../../ports.js';
import { isSameScope } from '../../scope.js';
import type { ConfigurationReader, Scope } from '../../types.js';
import { createCachedRecords, createScopedRecords, type RecordSource } from './cached-records.js';
import { type Databases, geofencesOfPlace, type VersionedKind, versionNames } from './databases.js';
import { environmentRecords, type RecordName } from './environment-records.js';
import { expiryBound, idKey } from './keys.js';
import { countOf, readPage, search, walk } from './list-reader.js';
import { createLookups } from './lookups.js';
import type { Contested } from './revisions.js';
import type { CompactFence } from './stored-fence.js';

/**
 * What a read model answers beyond {@link ConfigurationReader}: records of all scopes, for the node itself and not for
 * its clients.
 */
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

/**
 * Creates the reader of stored records.
 * @param clock returns epoch ms, to compare with `deleteAfter`.
 */
export function createReader(databases: Databases, clock: () => number): RecordReader {
  const { meta, number, changesOf, placedFences, beacons, lists, expiries, outdated, revisions } = databases;
  const lookups = createLookups(databases, clock);
  const { geofence, beacon } = lookups;
  const source = <T>(kind: VersionedKind, table: Database<T, Buffer>): RecordSource<T> => ({
    ...changesOf(kind),
    find: (id) => table.get(idKey(id)),
    all: () => valuesOf(table),
  });
  const projects = createCachedRecords(source('project', databases.projects));
  const webhooks = createScopedRecords(source('webhook', databases.webhooks));
  const syncs = createScopedRecords(source('sync', databases.syncs));
  const erasures = createScopedRecords(source('erasure', databases.erasures));

  return {
    /** Increases with every change, even when offsets restart. */
    get version() {
      return number('firstVersion') + number('nextOffset');
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
    ...lookups,
    projects,
    geofences: (query) => readPage(lists, 'geofence', query, (id) => geofence(query, id)),
    beacons: (query) => readPage(lists, 'beacon', query, (id) => beacon(query, id)),
    walkGeofences: (query, from, maxExamined) =>
      walk(lists, 'geofence', { ...query, from, maxExamined }, (id) => geofence(query, id)),
    walkBeacons: (query, from, maxExamined) =>
      walk(lists, 'beacon', { ...query, from, maxExamined }, (id) => beacon(query, id)),
    searchGeofences: (query) => search(lists, 'geofence', { ...query, nowMs: clock() }, (id) => geofence(query, id)),
    searchBeacons: (query) => search(lists, 'beacon', { ...query, nowMs: clock() }, (id) => beacon(query, id)),
    count: (kind, query) => countOf(lists, kind, query),
    webhook: webhooks.find,
    webhooks: webhooks.list,
    mapStyles: databases.mapStyles,
    mapMarkers: databases.mapMarkers,
    imports: databases.imports,
    sync: (scope) => databases.syncs.get(idKey(syncId(scope))),
    syncs: syncs.all,
    places: databases.places,
    geofencesOfPlace: (scope, placeId, limit) => geofencesOfPlace(databases, scope, placeId, { limit, nowMs: clock() }),
    outdatedGeofences: (limit, after) =>
      [...outdated.getKeys({ limit, ...(after !== undefined && { start: afterId(after) }) })].map((key) =>
        key.toString('hex'),
      ),
    erasure: erasures.find,
    erasures: erasures.list,
    allErasures: erasures.all,
    recordsOf: (scope, limit) => environmentRecords(databases, webhooks.list, scope, limit),

    *compactFences() {
      for (const { key, value } of placedFences.getRange()) {
        yield { scope: value.scope, id: key.toString('hex'), fence: value.fence };
      }
    },
    compactFence(scope, id) {
      const placed = placedFences.get(idKey(id));
      return placed && isSameScope(placed.scope, scope) ? placed.fence : undefined;
    },
    allBeacons: () => valuesOf(beacons),
    expired: (nowMs, limit) =>
      [...expiries.getRange({ end: expiryBound(nowMs), limit })].map(({ key }) => key.toString('hex', key.length - 12)),
  };
}

const valuesOf = <T>(table: Database<T, Buffer>): Iterable<T> => table.getRange().map(({ value }) => value);

/** Returns the key after that of an id. */
const afterId = (id: string): Buffer => Buffer.concat([idKey(id), Buffer.of(0)]);
