/**
 * Public interfaces of the catalog: the node's read model of the configuration, and its spatial index.
 *
 * The read model is an LMDB file, written by one applier that follows topic `changes`. It serves reads by id and by
 * list. The spatial index is in the memory of the evaluating thread and serves queries by location.
 */
import type { AccountRecord } from '../../schemas/json/account.js';
import type { BeaconRecord, BeaconType } from '../../schemas/json/beacon.js';
import type { Environment, MetadataValue, Position } from '../../schemas/json/common.js';
import type { ErasureRecord } from '../../schemas/json/erasure.js';
import type { GeofenceHead, GeofenceRecord } from '../../schemas/json/geofence.js';
import type { ImportedResourceName, ImportPartRecord, ImportRecord } from '../../schemas/json/import.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../schemas/json/map.js';
import type { PlaceRecord } from '../../schemas/json/place.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import type { SyncRecord } from '../../schemas/json/sync.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { Change, ChangeKind, DeviceState, Location } from '../../schemas/records.js';
import type { MapMarkerHead, MapStyleHead } from '../../schemas/wire/map.js';
import type { EvaluationContext } from '../evaluation/types.js';
import type { NewRecord } from '../ports.js';

/** The owner of almost everything: a project's id, and one of its two separate sets of data. */
export interface Scope {
  readonly project: string;
  readonly environment: Environment;
}

/**
 * A revision that an edit accepts as its base. `absent`: the record never existed, or its deletion is no longer
 * remembered.
 */
export type Base = number | 'absent';

/** Position and headers of a change in the log. */
export interface ChangeOrigin {
  readonly offset: number;
  /** Epoch ms of the append. */
  readonly timestampMs: number;
  /** Id that identifies the outcome of an edit; null for changes of older releases. */
  readonly edit: string | null;
  /** Null: the change is applied in any case. */
  readonly bases: readonly Base[] | null;
}

/**
 * `applied`: the record has the edit's change, at this revision. `refused`: another edit came first, and nothing has
 * changed.
 */
export type EditOutcome = { readonly kind: 'applied'; readonly revision: number } | { readonly kind: 'refused' };

/** The revision of a record, and the time of its deletion if it is deleted. */
export interface RecordRevision {
  readonly revision: number;
  readonly deletedAtMs: number | null;
}

/** The last record of the previous page, in a list by time, then id, both descending. */
export interface ListCursor {
  /** Epoch ms. */
  readonly timeMs: number;
  readonly id: string;
}

/** The values of each key that match. A record must match every key. */
export type MetadataFilter = Readonly<Record<string, readonly MetadataValue[]>>;

/** A page of a list, newest first. Bounds are exclusive, epoch ms. */
export interface ListQuery extends Scope {
  readonly limit: number;
  readonly cursor?: ListCursor | null;
  readonly orderBy: 'createdAt' | 'updatedAt';
  readonly createdBefore?: number;
  readonly createdAfter?: number;
  readonly updatedBefore?: number;
  readonly updatedAfter?: number;
  readonly tag?: string;
  readonly externalId?: string;
  readonly metadata?: MetadataFilter;
  /** Records to look at before the page is cut. Default: no limit. */
  readonly maxExamined?: number;
}

/** One page of a list. `hasMore` is also true for a page that was cut before its limit. */
export interface Page<T> {
  readonly items: T[];
  readonly hasMore: boolean;
  /** Where to continue a page that was cut. */
  readonly next?: ListCursor;
}

/** What a walk through all records of a scope returns: the conditions of a list. */
export type WalkQuery = Omit<ListQuery, 'limit' | 'cursor' | 'orderBy' | 'maxExamined'>;

/**
 * A part of a walk through all records of a scope, by time of creation and id, oldest first. An update doesn't move a
 * record, so a walk returns each record that exists throughout exactly once. The items may be none before the end.
 */
export interface WalkPart<T> {
  readonly items: T[];
  /** Where to continue; null at the end. */
  readonly next: string | null;
}

/** A part of a search: the conditions of a list and further ones, in an order. */
export interface SearchQuery extends WalkQuery {
  readonly sort: 'createdAt' | 'updatedAt' | 'description';
  readonly isDescending: boolean;
  /** Each word is in the description, tag, external id or address. Case and diacritics are ignored. */
  readonly words?: readonly string[];
  /** Whether the record makes events at present. */
  readonly enabled?: boolean;
  /** The `next` of the part before; null at the start. */
  readonly from: string | null;
  readonly limit: number;
  readonly maxExamined: number;
}

/** One part of a search. The items may be none before the end. */
export interface SearchPart<T> extends WalkPart<T> {
  /** Number of records that were read. Fewer than `maxExamined`, and `next`: there are more than `limit`. */
  readonly examined: number;
}

/** A project, geofence or beacon that has changed. `scope` is null for projects. */
export interface ChangedThing {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly scope: Scope | null;
}

/** What has changed up to a version. */
export interface FeedPage {
  readonly things: readonly ChangedThing[];
  readonly version: number;
}

/** The configuration as of the applied offset. Reads are synchronous. */
export interface ConfigurationReader {
  /** Increases with every applied change. */
  readonly version: number;
  /** Increases with every change of a project. Data derived from projects may be cached until then. */
  readonly projectsVersion: number;
  /**
   * Returns what has changed since a version, each thing once, and the version up to which that is all; undefined if
   * the feed does not reach back that far. With `limit`, it stops after the batch that reaches so many things.
   */
  feed(fromVersion: number, limit?: number): FeedPage | undefined;
  /** Returns the revision of a record, deleted or not; undefined if the record is unknown. */
  revisionOf(kind: ChangeKind, id: string): RecordRevision | undefined;
  /**
   * Returns the bases for the next edit of the record, if the edit takes the current content of this read model into
   * account.
   */
  bases(kind: ChangeKind, id: string): Base[];
  project(id: string): ProjectRecord | undefined;
  /** Lists projects by id. A project stays the same object until it changes. */
  projects(): readonly ProjectRecord[];
  account(id: string): AccountRecord | undefined;
  /** Returns a geofence of the scope; undefined if there is none or its `deleteAfter` has passed. */
  geofence(scope: Scope, id: string): GeofenceRecord | undefined;
  /**
   * Returns a geofence even after its `deleteAfter` while its record is stored, for evaluation by a location's time.
   */
  storedGeofence(scope: Scope, id: string): GeofenceRecord | undefined;
  /** Does the same without the ring. */
  storedGeofenceHead(scope: Scope, id: string): GeofenceHead | undefined;
  beacon(scope: Scope, id: string): BeaconRecord | undefined;
  geofences(query: ListQuery): Page<GeofenceRecord>;
  beacons(query: ListQuery): Page<BeaconRecord>;
  /**
   * Examines at most `maxExamined` geofences. `from` is the `next` of the part before, null at the start.
   */
  walkGeofences(query: WalkQuery, from: string | null, maxExamined: number): WalkPart<GeofenceRecord>;
  walkBeacons(query: WalkQuery, from: string | null, maxExamined: number): WalkPart<BeaconRecord>;
  /** Examines at most `maxExamined` geofences, in the order of the query. */
  searchGeofences(query: SearchQuery): SearchPart<GeofenceRecord>;
  searchBeacons(query: SearchQuery): SearchPart<BeaconRecord>;
  /** Counts records of a scope, or of those with a tag, at little cost. Geofences past `deleteAfter` may count. */
  count(kind: 'geofence' | 'beacon', query: Scope & { readonly tag?: string }): number;
  webhook(scope: Scope, id: string): WebhookRecord | undefined;
  /** Lists webhooks, oldest first. Returns the same array until a webhook of the scope changes. */
  webhooks(scope: Scope): readonly WebhookRecord[];
  readonly mapStyles: UploadedFiles<MapStyleHead>;
  readonly mapMarkers: UploadedFiles<MapMarkerHead>;
  readonly imports: ImportHistory;
  /** Returns the sync of a scope. */
  sync(scope: Scope): SyncRecord | undefined;
  /** Lists the syncs of all scopes. Returns the same array until one of them changes. */
  syncs(): readonly SyncRecord[];
  readonly places: PlaceCatalogue;
  /**
   * Returns ids of the geofences that have the geometry of a place, at most `limit`. Those past `deleteAfter` do not
   * count: their owner can neither see, change nor delete them.
   */
  geofencesOfPlace(scope: Scope, placeId: string, limit: number): string[];
  erasure(scope: Scope, id: string): ErasureRecord | undefined;
  /** Lists erasures, oldest first. Returns the same array until one of the scope changes. */
  erasures(scope: Scope): readonly ErasureRecord[];
}

/** A page of the imports of a resource, newest first. */
export interface ImportQuery extends Scope {
  readonly resource: ImportedResourceName;
  readonly limit: number;
  /** The last import of the page before. */
  readonly before?: { readonly timeMs: number; readonly id: string };
}

/** The remembered imports of all environments and the files that they left, read from disk on demand. */
export interface ImportHistory {
  find(scope: Scope, id: string): ImportRecord | undefined;
  list(query: ImportQuery): Page<ImportRecord>;
  /** Returns the text of a part of a file. */
  part(scope: Scope, id: string): string | undefined;
}

/** A page of places, last updated first. Bounds are exclusive, epoch ms. */
export interface PlaceListQuery extends Scope {
  readonly limit: number;
  readonly cursor?: ListCursor | null;
  readonly updatedBefore?: number;
  readonly updatedAfter?: number;
}

/** A search by distance among the places of an environment. `accepts` is called before `limit` counts. */
export interface NearPlacesQuery extends Scope {
  readonly near: Position;
  readonly radiusM: number;
  readonly limit: number;
  readonly accepts: (place: PlaceRecord) => boolean;
}

/** A place that a search found. */
export interface NearbyPlace {
  readonly record: PlaceRecord;
  /** From the centre of the search to the centre of the place. */
  readonly distanceM: number;
}

/** The places of all environments. They are read from disk on demand. */
export interface PlaceCatalogue {
  /** Returns a place of the scope by the id of its record. */
  find(scope: Scope, id: string): PlaceRecord | undefined;
  list(query: PlaceListQuery): Page<PlaceRecord>;
  /**
   * Resolves to the places whose centre is within a radius, nearest first. Where they are too dense to examine all, it
   * resolves to those within a sixteenth or a quarter of the radius. Other work continues meanwhile.
   */
  near(query: NearPlacesQuery): Promise<NearbyPlace[]>;
}

/**
 * Uploaded files, of which a scope has few. Heads are cached in memory; contents are read on demand.
 */
export interface UploadedFiles<Head> {
  /** Lists heads, oldest first. Returns the same array until a file of the scope changes. */
  list(scope: Scope): readonly Head[];
  find(scope: Scope, id: string): Head | undefined;
  /** Returns the JSON of a style or the image of a marker. */
  content(scope: Scope, id: string): Buffer | undefined;
}

/** One change to write: the whole record, or null to delete. */
export interface ConfigurationChange {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly record:
    | ProjectRecord
    | GeofenceRecord
    | BeaconRecord
    | WebhookRecord
    | MapStyleRecord
    | MapMarkerRecord
    | ImportRecord
    | ImportPartRecord
    | PlaceRecord
    | SyncRecord
    | AccountRecord
    | ErasureRecord
    | null;
  /**
   * Revisions that the change takes into account. It is refused if the record is at another revision. Absent: the
   * change is applied in any case.
   */
  readonly bases?: readonly Base[];
  /** The record when the bases were read, null if there was none. Given by callers that have compared the two. */
  readonly before?: GeofenceRecord | BeaconRecord | null;
}

/** What places a record in the lists by time. */
export interface ListedTimes {
  readonly tag: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A change of a geofence as the read model stores it, see `store/apply/prepared-fence.ts`. */
export interface PreparedFence {
  /** The revision that the change replaces; null: no geofence is stored. */
  readonly base: number | null;
  readonly scope: Scope;
  /** The stored form, whose version is written when the change is applied. */
  readonly stored: Buffer;
  readonly before: ListedTimes | null;
  readonly after: ListedTimes;
  /** Keys of the lists that the change leaves and enters. */
  readonly removed: readonly Buffer[];
  readonly added: readonly Buffer[];
}

/** A change as a record of topic `changes`, and the id of its edit. */
export interface EncodedChange {
  readonly edit: string;
  readonly record: NewRecord;
  readonly prepared?: PreparedFence | undefined;
}

/**
 * Appends changes and waits until this node's read model has applied or refused them. Clients thus read their own
 * writes.
 */
export interface ConfigurationWriter {
  /** Returns the outcomes in the order of the changes. */
  write(changes: readonly ConfigurationChange[]): Promise<readonly EditOutcome[]>;
  /** Resolves when the read model has applied everything that any node wrote before the call. */
  catchUp(): Promise<void>;
  /** Returns epoch ms for `createdAt` and `updatedAt`. Unique on a node, so that cursors by time skip no record. */
  nextTimestamp(): number;
}

/** Writes for a thread that encodes its changes itself. */
export interface EncodedWriter extends ConfigurationWriter {
  writeEncoded(changes: readonly EncodedChange[]): Promise<readonly EditOutcome[]>;
}

/**
 * A change to apply. Without `origin` it does not come from the log: it is applied in any case, and its record gets no
 * revision.
 */
export type DecodedChange = Pick<Change, 'kind' | 'id'> & {
  readonly record: ConfigurationChange['record'];
  /** The record as JSON, if the log has it in this form. */
  readonly text?: string | undefined;
  /** All that is stored of the change. Then `record` is decoded only if it is asked for. */
  readonly prepared?: PreparedFence | undefined;
  readonly origin?: ChangeOrigin;
};

/** The evaluating thread's access: evaluation contexts, and the configuration behind their rows. */
export interface Catalog {
  /** Applies the latest changes of the read model; cheap if there are none. Called between batches. */
  refresh(): void;
  /** Returns the context of a scope; undefined for an unknown project. */
  context(scope: Scope): EvaluationContext | undefined;
  readonly configuration: ConfigurationReader;
}

/**
 * Queries by location, served by the thread that holds the spatial index. Results are the API's JSON. A query that
 * waits for its turn rejects with the reason of the signal when it aborts, and so does a search that runs.
 */
export interface SpatialQueries {
  /** Returns summaries of the enabled geofences that contain the point. */
  context(
    query: Scope & {
      longitude: number;
      latitude: number;
      /** Epoch ms: the fences as they are at this time. Now, unless it is given. */
      atMs?: number;
      /** Only fences that may make events for this user, and for a request from this address. All, unless given. */
      sender?: Pick<Location, 'userId' | 'ip'>;
    },
    signal?: AbortSignal,
  ): Promise<object[]>;
  /** Returns enabled geofences, nearest first, by the distance of their boundary (0 inside). */
  searchGeofences(
    query: Scope & {
      longitude: number;
      latitude: number;
      limit: number;
      radiusM?: number;
      tags?: string[];
      metadata?: MetadataFilter;
      includeGeometry: boolean;
      /** Epoch ms: the fences as they are at this time. Now, unless it is given. */
      atMs?: number;
      /** Only fences that may make events for this user; null: for a device without a user. All, unless it is given. */
      userId?: string | null;
    },
    signal?: AbortSignal,
  ): Promise<object[]>;
  /** Returns summaries of the enabled beacons within `radiusM`, nearest first; of all types, unless one is given. */
  searchBeacons(
    query: Scope & {
      longitude: number;
      latitude: number;
      radiusM: number;
      limit: number;
      type?: BeaconType | undefined;
    },
    signal?: AbortSignal,
  ): Promise<object[]>;
  /** Returns distance, share, confidence and deciding rule for each examined fence. */
  explain(
    query: Scope & { location: Location; state?: DeviceState; geofence?: string },
    signal?: AbortSignal,
  ): Promise<object>;
}
