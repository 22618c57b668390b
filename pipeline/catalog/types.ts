/**
 * What other rooms ask of the catalog: the node's own read model of projects, geofences and beacons, and its spatial
 * indexes.
 *
 * The read model (an LMDB file, written by one applier that follows topic `changes`) answers everything by id and by
 * list; the monitored set (in memory, in the thread that evaluates) answers everything by place.
 */
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { Environment } from '../../schemas/json/common.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../schemas/json/map.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { Change, ChangeKind } from '../../schemas/records.js';
import type { MapMarkerHead, MapStyleHead } from '../../schemas/wire/map.js';
import type { EvaluationContext } from '../evaluation/types.js';
import type { Base, ChangeOrigin, EditOutcome, Standing } from './store/revisions.js';

export interface Scope {
  readonly project: string;
  readonly environment: Environment;
}

/** A page of a list, newest first. Bounds are exclusive, epoch ms. */
export interface ListQuery extends Scope {
  readonly limit: number;
  readonly orderBy: 'createdAt' | 'updatedAt';
  readonly createdBefore?: number;
  readonly createdAfter?: number;
  readonly updatedBefore?: number;
  readonly updatedAfter?: number;
  readonly tag?: string;
  readonly externalId?: string;
  /** All must match. */
  readonly metadata?: Record<string, string | number | boolean>;
}

export interface Page<T> {
  readonly items: T[];
  readonly hasMore: boolean;
}

/** The configured things as of the applied offset; reads are synchronous. */
export interface ConfigurationReader {
  /** Grows with every applied change: what is derived from the configuration may be kept until it does. */
  readonly version: number;
  /** How a record stands, deleted or not; undefined where nothing was ever heard of it. */
  standing(kind: ChangeKind, id: string): Standing | undefined;
  /**
   * What the next edit of the record is to name as its bases, if it takes into account all that is to be read here
   * now.
   */
  bases(kind: ChangeKind, id: string): Base[];
  project(id: string): ProjectRecord | undefined;
  projects(): ProjectRecord[];
  /** Undefined unless it belongs to the scope. A geofence past its `deleteAfter` is not there any more. */
  geofence(scope: Scope, id: string): GeofenceRecord | undefined;
  /** Also one past its `deleteAfter`, as long as its record is kept: for whoever judges by a location's time. */
  keptGeofence(scope: Scope, id: string): GeofenceRecord | undefined;
  beacon(scope: Scope, id: string): BeaconRecord | undefined;
  geofences(query: ListQuery): Page<GeofenceRecord>;
  beacons(query: ListQuery): Page<BeaconRecord>;
  webhook(scope: Scope, id: string): WebhookRecord | undefined;
  /** Oldest first. The list is the same object until a webhook of any project changes. */
  webhooks(scope: Scope): readonly WebhookRecord[];
  readonly mapStyles: UploadedFiles<MapStyleHead>;
  readonly mapMarkers: UploadedFiles<MapMarkerHead>;
}

/**
 * Files that owners upload, of which a scope has few: what is known of each, and the bytes for when they are needed.
 */
export interface UploadedFiles<Head> {
  /** Oldest first. The list is the same object until a file of the kind changes, of any project. */
  list(scope: Scope): readonly Head[];
  find(scope: Scope, id: string): Head | undefined;
  /** Of a style its JSON, of a marker its image. */
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
    | null;
  /**
   * Revisions that the change takes into account: it is refused where the record stands at another. Absent: it
   * replaces whatever stands there.
   */
  readonly bases?: readonly Base[];
}

/**
 * Appends changes and waits until this node's read model has applied or refused them, so that a client reads its own
 * writes.
 */
export interface ConfigurationWriter {
  /** The outcome of each change, in their order. */
  write(changes: readonly ConfigurationChange[]): Promise<readonly EditOutcome[]>;
  /** Resolves when the read model has applied all that was written anywhere before the call. */
  catchUp(): Promise<void>;
  /** Epoch ms for `createdAt`/`updatedAt`: never the same twice on a node, so that time cursors lose nothing. */
  nextTimestamp(): number;
}

/**
 * `origin` is absent where a change doesn't come from the log: it is applied whatever stands there, and gives its
 * record no revision.
 */
export type DecodedChange = Pick<Change, 'kind' | 'id'> & {
  readonly record: ConfigurationChange['record'];
  readonly origin?: ChangeOrigin;
};

/** The evaluating thread's side: what a location is evaluated against, and the definitions behind the rows. */
export interface Catalog {
  /** Takes in what the read model has applied since; cheap when there is nothing new. Called between batches. */
  catchUp(): void;
  /** Undefined for an unknown project. */
  context(scope: Scope): EvaluationContext | undefined;
  readonly configuration: ConfigurationReader;
}

/** Questions by place. Served by the thread that holds the monitored set; answers are wire forms, ready to send. */
export interface SpatialQueries {
  /** Geofences that contain the point, monitored or not disabled, as summaries. */
  context(
    question: Scope & {
      longitude: number;
      latitude: number;
      accuracyM: number;
      /** Epoch ms: the fences as they are at this time. Now, unless it is given. */
      atMs?: number;
    },
  ): Promise<object[]>;
  /** Enabled geofences by distance of their boundary (0 inside), nearest first. */
  searchGeofences(
    question: Scope & {
      longitude: number;
      latitude: number;
      limit: number;
      radiusM?: number;
      tags?: string[];
      metadata?: Record<string, string | number | boolean>;
      includeGeometry: boolean;
      /** Epoch ms: the fences as they are at this time. Now, unless it is given. */
      atMs?: number;
    },
  ): Promise<object[]>;
  /** Enabled beacons within `radiusM`, nearest first, as beacon summaries. */
  searchBeacons(
    question: Scope & { longitude: number; latitude: number; radiusM: number; limit: number },
  ): Promise<object[]>;
  /** For each fence looked at: distance, share, confidence, and the rule that let it through or stopped it. */
  explain(question: Scope & { location: object; state?: object; geofence?: string }): Promise<object>;
}
