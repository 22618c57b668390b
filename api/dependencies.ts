/** The dependencies of the API's routes. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { ObserveCache } from '../pipeline/cache-use.js';
import type { ConfigurationReader, ConfigurationWriter, Scope, SpatialQueries } from '../pipeline/catalog/types.js';
import type { SecretCipher } from '../pipeline/encryption.js';
import type { DeliveryQueue, ExpiringValues, Log } from '../pipeline/ports.js';
import type { Geocoder } from '../providers/geocoding/geocoder.js';
import type { IpGeocoder } from '../providers/geocoding/ip-database.js';
import type { IsochroneProvider } from '../providers/isochrones/provider.js';
import type { IconKind } from '../renderer/icons/rasterize.js';
import type { Done } from '../renderer/pool/pool.js';
import type { Unsupported } from '../renderer/style/unsupported.js';
import type { DrawnMap, MapRequest, Uploads } from '../renderer/types.js';
import type { WebFile, WebFileRequest } from '../renderer/web/requests.js';
import type { Validated } from '../schemas/errors.js';
import type { WebhookRecord } from '../schemas/json/webhook.js';
import type { Attempt, Delivery, DeviceState } from '../schemas/records.js';
import type { AccountParts } from './accounts/dependencies.js';
import type { History } from './history.js';

/** What the routes of resources share. A part that is absent switches off what needs it. */
export interface ApiDependencies {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly spatial: SpatialQueries;
  readonly analytics: History;
  /** Memory of an analytics query in MiB; absent where the store has a machine of its own. */
  readonly maxQueryMemoryMib?: number | undefined;
  /** Why erasures are refused: they find what belongs to a user in analytics, which this node may lack. */
  readonly erasesNothing?: string | undefined;
  readonly log: Log;
  readonly values: ExpiringValues;
  readonly webhooks: WebhookParts;
  readonly accounts: AccountParts;
  /** Whether features may require a plan. */
  readonly arePlansEnabled: boolean;
  readonly maps: MapParts;
  readonly geometrySources: GeometrySources;
  /** Absent: no database is configured. */
  readonly ipGeocoder?: IpGeocoder | undefined;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Returns how far evaluation is behind, over all projects; absent where this node cannot know. */
  readonly lag?: () => Promise<PipelineLag>;
  readonly streams?: StreamObserver | undefined;
  readonly observeCache?: ObserveCache | undefined;
  /** Returns the stored state of a device; absent where this node cannot load it. */
  readonly states?: (scope: Scope, deviceId: string) => Promise<DeviceState | undefined>;
}

/** Observes live streams and long polls, for metrics. */
interface StreamObserver {
  /** Called with 1 and -1 as they open and close. */
  opened(change: number): void;
  /** Called when a live stream is closed because its client reads too slowly. */
  dropped(): void;
  /** Called once with a function that counts the live streams whose clients are behind. */
  slow(count: () => number): void;
}

/** How far evaluation is behind, over all partitions. */
export interface PipelineLag {
  /** Accepted locations that are not evaluated yet. */
  readonly waitingLocations: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly lagMs: number;
}

/** The providers of geometry that is not given as coordinates. An absent provider is not configured. */
export interface GeometrySources {
  readonly isochrones?: IsochroneProvider | undefined;
  readonly geocoder?: Geocoder | undefined;
  /** Epoch ms; default `Date.now`. */
  readonly clock?: () => number;
}

/** The dependencies of the routes of webhooks. */
export interface WebhookParts {
  readonly secretCipher: SecretCipher;
  /** CIDRs of reserved networks that endpoints may use nevertheless. */
  readonly allowedNetworks: readonly string[];
  /** Of one project and environment. */
  readonly maxWebhooks: number;
  /** Lists the waiting deliveries of one queue. */
  readonly waiting: DeliveryQueue['waiting'];
  /** Makes one attempt at once, without queueing, and appends its result to topic `attempts`. */
  readonly attemptOnce: (webhook: WebhookRecord, delivery: Delivery) => Promise<Attempt>;
}

/** A map, and the processor time that it took. */
export type TimedMap = DrawnMap & { readonly processorMs: number };

/** The dependencies of the routes of static maps and their uploads. */
export interface MapParts {
  /** Rejects with the reason of the signal when it aborts while the map waits for a process. */
  readonly render: (project: string, request: MapRequest, uploads: Uploads, signal?: AbortSignal) => Promise<TimedMap>;
  /** Returns the parts of a style, in JSON, that are not drawn, or its first error. */
  readonly checkStyle: (project: string, json: Uint8Array) => Promise<Validated<Unsupported[]>>;
  /** Returns the type of the image, or what is wrong with it. */
  readonly checkIcon: (project: string, file: Uint8Array) => Promise<Validated<IconKind>>;
  /** A style for interactive maps, with paths of this installation in place of addresses. */
  readonly webStyle: (
    project: string,
    style: { readonly name: string; readonly language: string; readonly uploaded: Uploads['style'] },
    signal?: AbortSignal,
  ) => Promise<Done<StyleSpecification>>;
  /** A file of interactive maps; null for a tile that the source does not have. */
  readonly webFile: (project: string, request: WebFileRequest, signal?: AbortSignal) => Promise<Done<WebFile | null>>;
  /** Where clients reach this server; empty: where the request did. */
  readonly publicUrl: string;
  /** Limit of the maps of one key, in milliseconds of processor time per second in the long run; 0 for no limit. */
  readonly costPerKeyPerSecond: number;
  /** Of finished images that are kept. */
  readonly maxCacheBytes: number;
  /** Of one project and environment. */
  readonly maxStyles: number;
  readonly maxMarkers: number;
}
