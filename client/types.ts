// Generated from /openapi.json: npx vitest run --project embedded test/end-to-end/openapi.test.ts --update
export type None = Record<never, never>;
export type Account = { _id: string; email: string; createdAt: string };
export type Address = {
  latitude: number;
  longitude: number;
  geometry: { type: "Point"; coordinates: [number, number] };
  layer: string;
  confidence: string;
  formattedAddress: string;
  addressLabel?: string;
  placeLabel?: string;
  number?: string;
  street?: string;
  neighborhood?: string;
  city?: string;
  county?: string;
  state?: string;
  stateCode?: string;
  postalCode?: string;
  country?: string;
  countryCode?: string;
  countryFlag?: string;
  distance?: number;
};
export type Attempt = {
  _id: string;
  delivery: string;
  events: string[];
  attempt: number;
  reason: "event" | "redelivery" | "test";
  at: string;
  durationMs: number;
  url: string;
  result: "delivered" | "refused" | "redirected" | "gone" | "address_refused" | "name_not_found" | "connection_failed" | "tls_failed" | "timed_out" | "invalid_answer" | "secret_unreadable" | "expired";
  message?: string;
  state: "delivered" | "retrying" | "given_up";
  nextAttemptAt?: string;
  request: { body: string };
  response?: { status: number; headers: { [name: string]: string }; body: string };
};
export type BackupSnapshot = {
  _id: string;
  encryptionKeySha256: string;
  tables: ({ name: string; create: string; folder: string | null })[];
};
export type Beacon = {
  _id: string;
  createdAt?: string;
  updatedAt?: string;
  live?: boolean;
  tag?: string;
  externalId?: string;
  description: string;
  type: "ibeacon" | "eddystone";
  uuid?: string;
  major?: string;
  minor?: string;
  uid?: string;
  instance?: string;
  geometry?: { type: "Point"; coordinates: [number, number] };
  enabled?: boolean;
  metadata?: { [name: string]: string | boolean | number };
  metadataOmitted?: true;
};
export type Event = {
  _id: string;
  type: string;
  createdAt: string;
  actualCreatedAt: string;
  live: boolean;
  user?: {
    _id?: string;
    userId?: string;
    deviceId?: string;
    installId?: string;
    metadata?: { [name: string]: string | boolean | number };
    locationAuthorization?: string;
    locationAccuracyAuthorization?: string;
  };
  geofence?: GeofenceSummary;
  beacon?: Beacon;
  location?: { type: "Point"; coordinates: number[] };
  locationAccuracy?: number;
  confidence: number;
  duration?: number;
  currentlyOperating?: boolean;
  foreground?: boolean;
  stopped?: boolean;
  replayed?: boolean;
  source?: string;
  metadata?: { [name: string]: string | boolean | number };
  metadataOmitted?: true;
};
export type ExplainedFence = {
  _id: string;
  tag?: string;
  externalId?: string;
  description?: string;
  distance_m?: number;
  overlap?: number;
  zone?: "apart" | "near" | "partly" | "within";
  entryConfidence?: number;
  exitConfidence?: number;
  wasInside: boolean;
  rule: {
    code: "entered" | "exited" | "dwelled" | "already_inside" | "still_within_buffer" | "dwell_threshold_not_reached" | "already_dwelled" | "stays_outside_boundary" | "within_accuracy_only" | "not_stopped" | "confidence_below_minimum" | "disabled" | "past_disable_after" | "closed" | "not_for_this_user" | "not_for_this_address" | "left_in_silence" | "past_delete_after" | "deleted" | "no_such_geofence" | "too_many_geofences" | "location_repeated" | "location_stale";
    text: string;
  };
};
export type Explanation = {
  evaluatedAt: string;
  evaluation: {
    result: "applied" | "repeat" | "stale";
    transitions: { type: string; _id: string; confidence: number; duration?: number; currentlyOperating?: boolean }[];
  };
  notice?: { code: "no_geofences" | "no_geofence_near" | "geofences_changed"; text: string };
  fences: ExplainedFence[];
};
export type Failure400 = {
  code: number;
  type: "invalid_parameter" | "invalid_body" | "malformed_request" | "not_available" | "address_not_found" | "outside_road_data" | "query_too_large" | "map_too_large";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure401 = { code: number; type: "unauthorized"; param?: string; message: string; requestId: string };
export type Failure403 = {
  code: number;
  type: "forbidden" | "plan_required" | "origin_not_allowed";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure404 = { code: number; type: "not_found"; param?: string; message: string; requestId: string };
export type Failure408 = { code: number; type: "request_timeout"; param?: string; message: string; requestId: string };
export type Failure409 = {
  code: number;
  type: "conflict" | "edit_conflict" | "request_in_progress" | "import_running" | "replay_running";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure412 = {
  code: number;
  type: "precondition_failed";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure413 = { code: number; type: "body_too_large"; param?: string; message: string; requestId: string };
export type Failure415 = {
  code: number;
  type: "unsupported_media_type";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure422 = {
  code: number;
  type: "idempotency_key_reused";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure429 = {
  code: number;
  type: "rate_limited" | "too_many_attempts";
  param?: string;
  message: string;
  requestId: string;
};
export type Failure503 = {
  code: number;
  type: "overloaded" | "storage_full" | "unavailable";
  param?: string;
  message: string;
  requestId: string;
};
export type Geofence = {
  _id: string;
  createdAt: string;
  updatedAt: string;
  live: boolean;
  tag: string;
  externalId: string;
  description: string;
  type: "circle" | "polygon" | "isochrone";
  geometry?: { type: "Polygon"; coordinates: [number, number][][] };
  geometryCenter: { type: "Point"; coordinates: [number, number] };
  geometryRadius: number;
  mode?: string;
  address?: string;
  placeId?: string;
  geometrySource?: {
    isochrone?: { provider: string; providerVersion?: string; roadDataAt?: string; computedAt: string };
    address?: {
      provider?: string;
      formattedAddress?: string;
      location?: { type: "Point"; coordinates: [number, number] };
      resolvedAt: string;
      warning?: string;
    };
    place?: { warning: string };
  };
  metadata?: { [name: string]: string | boolean | number };
  metadataOmitted?: true;
  enabled: boolean;
  operatingHours?: {
    Mon?: [string, string][];
    Tue?: [string, string][];
    Wed?: [string, string][];
    Thu?: [string, string][];
    Fri?: [string, string][];
    Sat?: [string, string][];
    Sun?: [string, string][];
  };
  stopDetection?: boolean;
  dwellThreshold?: number;
  disableAfter?: string;
  deleteAfter?: string;
  userId?: string;
  userIds?: string;
  ip?: string;
};
export type GeofenceSummary = {
  _id: string;
  tag?: string;
  externalId?: string;
  description: string;
  type: "circle" | "polygon" | "isochrone";
  metadata?: { [name: string]: string | boolean | number };
  metadataOmitted?: true;
  geometryCenter: { type: "Point"; coordinates: [number, number] };
  geometryRadius: number;
};
export type Import = {
  _id: string;
  createdAt: string;
  updatedAt: string;
  finishedAt?: string;
  live: boolean;
  resource: "geofences" | "beacons";
  format: "csv" | "geojson" | "ndjson";
  fileName?: string;
  requestedBy: { kind: "key" | "account" | "sync"; name: string };
  dryRun: boolean;
  status: "running" | "completed" | "failed" | "interrupted";
  message: string;
  bytesTotal?: number;
  bytesRead: number;
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  lastLine: number;
  failure?: { line: number; column: string; rule: string };
  rejections?: { line: number; column: string; value: string; rule: string }[];
  rejectedFile?: string;
  rejectedFileCut?: boolean;
  plannedRows?: ({
    line: number;
    action: "created" | "updated" | "unchanged";
    tag: string | null;
    externalId: string | null;
    changed?: string[];
  })[];
  plannedFile?: string;
  plannedFileCut?: boolean;
};
export type Invitation = { _id: string; email: string; role: "owner" | "viewer"; createdAt: string; expiresAt: string };
export type IpAddress = {
  latitude: number;
  longitude: number;
  geometry: { type: "Point"; coordinates: [number, number] };
  accuracy?: number;
  city?: string;
  state?: string;
  stateCode?: string;
  postalCode?: string;
  country?: string;
  countryCode?: string;
  countryFlag?: string;
};
export type MapMarker = {
  _id: string;
  live: boolean;
  createdAt: string;
  updatedAt: string;
  name?: string;
  bytes: number;
  type: "image/png" | "image/svg+xml";
};
export type MapStyle = {
  _id: string;
  live: boolean;
  createdAt: string;
  updatedAt: string;
  name?: string;
  bytes: number;
};
export type Member = { _id: string; email: string; role: "owner" | "viewer"; createdAt: string };
export type Outline = {
  _id: string;
  description: string;
  tag?: string;
  externalId?: string;
  address?: string;
  enabled: boolean;
  center: [number, number];
  radius?: number;
  ring?: [number, number][];
};
export type Place = {
  _id: string;
  live: boolean;
  createdAt: string;
  updatedAt: string;
  name: string;
  categories: string[];
  chain?: { slug: string; name: string };
  address?: string;
  metadata?: { [name: string]: string | boolean | number };
  location: { type: "Point"; coordinates: [number, number] };
  geometry: { type: "Point"; coordinates: [number, number] } | { type: "Polygon"; coordinates: [number, number][][] };
};
export type PlaceSummary = {
  _id: string;
  name: string;
  categories: string[];
  chain?: { slug: string; name: string };
  address?: { formattedAddress: string };
  location: { type: "Point"; coordinates: [number, number] };
  distance: number;
};
export type Project = {
  _id: string;
  name: string;
  createdAt: string;
  plan?: "basic" | "enterprise";
  keys: ({
    environment: "test" | "live";
    kind: "publishable" | "secret";
    hint: string;
    createdAt: string;
    key?: string;
  })[];
};
export type ReceivedInvitation = {
  project: string;
  email: string;
  role: "owner" | "viewer";
  hasAccount: boolean;
  expiresAt: string;
};
export type Replay = {
  _id: string;
  createdAt: string;
  finishedAt?: string;
  status: "running" | "completed" | "failed" | "cancelled";
  message?: string;
  from: string;
  to: string;
  recordsRead: number;
  recordsTotal: number;
  summary?: {
    locations: { applied: number; repeat: number; stale: number };
    total: {
      entered: { both: number; replay: number; record: number };
      left: { both: number; replay: number; record: number };
      dwelled: { both: number; replay: number; record: number };
    };
    places: ({
      kind: "geofence" | "beacon";
      name: string;
      transitions: {
        entered: { both: number; replay: number; record: number };
        left: { both: number; replay: number; record: number };
        dwelled: { both: number; replay: number; record: number };
      };
    })[];
    firstLocationEvents: number;
  };
  kept: { both: number; replay: number; record: number };
};
export type Session = {
  account: Account | null;
  projects: ({ _id: string; name: string; role: "owner" | "viewer" })[];
  environments: ("test" | "live")[];
  expiresAt: string;
};
export type Settings = {
  stopDetection: boolean;
  bufferEntries: boolean;
  bufferExits: boolean;
  restrictToOperatingHours: boolean;
  dwellEvents: boolean;
  defaultDwellThreshold: number | null;
  minimumConfidence: number;
  beaconUuids: string[];
  beaconUids: string[];
  allowedOrigins?: string[];
};
export type SignedInBrowser = {
  _id: string;
  current: boolean;
  project: string | null;
  userAgent: string | null;
  startedAt: string;
  usedAt: string;
  expiresAt: string;
};
export type Status = {
  at: string;
  intervalMs: number;
  locations: number[];
  events: number[];
  waitingLocations?: number;
  lagMs?: number;
};
export type Sync = {
  live: boolean;
  createdAt: string;
  updatedAt: string;
  enabled: boolean;
  notificationEmail?: string;
  protocol: "http" | "s3";
  urls?: string[];
  region?: string;
  bucket?: string;
  keys?: string[];
  endpoint?: string;
  hasCredentials: boolean;
  status: "off" | "waiting" | "due" | "running";
  lastRun?: {
    _id: string;
    reason: "saved" | "requested" | "nightly";
    startedAt: string;
    finishedAt?: string;
    result: "running" | "succeeded" | "failed" | "interrupted";
    message?: string;
    files: ({
      name: string;
      result: "imported" | "rejected_rows" | "unchanged" | "failed" | "skipped";
      message?: string;
      bytes?: number;
      import?: string;
      counts?: { rows: number; created: number; updated: number; unchanged: number; rejected: number };
    })[];
    mailProblem?: string;
  };
  nextRunAt?: string;
};
export type User = {
  _id: string;
  live: boolean;
  userId?: string;
  deviceId: string;
  installId?: string;
  description?: string;
  metadata?: { [name: string]: string | boolean | number };
  location: { type: "Point"; coordinates: number[] };
  locationAccuracy: number;
  foreground: boolean;
  stopped: boolean;
  deviceType?: string;
  deviceMake?: string;
  deviceModel?: string;
  deviceOS?: string;
  sdkVersion?: string;
  locationAuthorization?: string;
  locationAccuracyAuthorization?: string;
  ip?: string;
  source?: string;
  createdAt: string;
  updatedAt: string;
  actualUpdatedAt: string;
  geofences: GeofenceSummary[];
  beacons: Beacon[];
};
export type UserLocation = {
  _id: string;
  at: string;
  receivedAt: string;
  location: { type: "Point"; coordinates: [number, number] };
  locationAccuracy: number;
  foreground: boolean;
  stopped: boolean;
  replayed: boolean;
  source?: string;
  result: "applied" | "repeat" | "stale";
  geofences: string[];
  events: string[];
};
export type UserPosition = {
  user: string;
  userId?: string;
  deviceId: string;
  coordinates: [number, number];
  accuracy: number;
  at: string;
  receivedAt: string;
  geofences: number;
};
export type WaitingDelivery = {
  _id: string;
  events: string[];
  reason: "event" | "redelivery" | "test";
  createdAt: string;
  attempts: number;
  nextAttemptAt: string;
};
export type Webhook = {
  _id: string;
  live: boolean;
  createdAt: string;
  updatedAt: string;
  url: string;
  description?: string;
  types?: string[];
  tags?: string[];
  delivery: "single" | "grouped";
  enabled: boolean;
  disabled?: { reason: "owner" | "gone" | "failing"; at: string };
  secrets: { _id: string; hint: string; createdAt: string; expiresAt?: string; secret?: string }[];
};
export interface Operations {
  'DELETE /v1/backup-snapshots/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/beacons/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/beacons/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/demo': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      demo: {
        available: boolean;
        running: boolean;
        geofences: number;
        devices: number;
        locations: number;
        startedAt?: string;
        endsAt?: string;
      };
    };
  };
  'DELETE /v1/events/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      erasure: {
        _id: string;
        subject: "user" | "event";
        status: "running" | "done" | "failed";
        createdAt: string;
        completedAt?: string;
      };
    };
  };
  'DELETE /v1/geofences/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/geofences/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/invitations/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/map-markers/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/map-styles/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/members/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; members: Member[] };
  };
  'DELETE /v1/places/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/projects/{id}': {
    path: { id: string };
    query: { name: string };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/replays/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/sessions': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'DELETE /v1/sessions/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/sync': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/users/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      erasure: {
        _id: string;
        subject: "user" | "event";
        status: "running" | "done" | "failed";
        createdAt: string;
        completedAt?: string;
      };
    };
  };
  'DELETE /v1/webhooks/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'DELETE /v1/webhooks/{id}/secrets/{secretId}': {
    path: { id: string; secretId: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
  'GET /health/live': {
    path: None;
    query: None;
    body: None;
    answer: { status: string };
  };
  'GET /health/ready': {
    path: None;
    query: None;
    body: None;
    answer: { status: string; waitsFor?: string[] };
  };
  'GET /maps/glyphs/{fontstack}/{range}': {
    path: { fontstack: string; range: string };
    query: { publishableKey?: string };
    body: None;
    answer: unknown;
  };
  'GET /maps/sprites/{file}': {
    path: { file: string };
    query: { publishableKey?: string };
    body: None;
    answer: { [name: string]: unknown };
  };
  'GET /maps/static': {
    path: None;
    query: {
      width: number;
      height: number;
      center?: string;
      zoom?: number;
      scale?: number;
      style?: string;
      language?: string;
      bbox?: string;
      markers?: string[];
      path?: string[];
      geofences?: string;
      format?: "png" | "webp" | "jpg" | "jpeg";
      publishableKey?: string;
    };
    body: None;
    answer: unknown;
  };
  'GET /maps/styles/{style}': {
    path: { style: string };
    query: { language?: string; publishableKey?: string };
    body: None;
    answer: { [name: string]: unknown };
  };
  'GET /maps/tiles/{tileset}/{z}/{x}/{y}': {
    path: { tileset: "archive" | "basemap" | "beyond"; z: number; x: number; y: number };
    query: { publishableKey?: string };
    body: None;
    answer: unknown;
  };
  'GET /metrics': {
    path: None;
    query: None;
    body: None;
    answer: unknown;
  };
  'GET /v1/analytics/dwell-times': {
    path: None;
    query: {
      from?: string;
      to?: string;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      groupBy?: "place" | "tag" | "none";
      bounds?: string;
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string; boundsMinutes: number[] };
      rows: {
        geofence?: string;
        beacon?: string;
        tag?: string;
        externalId?: string;
        description?: string;
        visits: number;
        openVisits: number;
        unseenVisits: number;
        p10Minutes?: number;
        p50Minutes?: number;
        p90Minutes?: number;
        p99Minutes?: number;
        histogram: number[];
      }[];
    };
  };
  'GET /v1/analytics/entries': {
    path: None;
    query: {
      from?: string;
      to?: string;
      interval?: "hour" | "day";
      timeZone?: string;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      groupBy?: "place" | "tag" | "none";
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string; interval?: "hour" | "day"; timeZone?: string };
      rows: {
        start: string;
        local: string;
        geofence?: string;
        beacon?: string;
        tag?: string;
        externalId?: string;
        description?: string;
        entries: number;
      }[];
    };
  };
  'GET /v1/analytics/flows': {
    path: None;
    query: {
      from?: string;
      to?: string;
      within?: number;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      toGeofence?: string;
      toBeacon?: string;
      toTag?: string;
      toExternalId?: string;
      groupBy?: "place" | "tag" | "none";
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string; withinMinutes: number };
      rows: {
        fromGeofence?: string;
        fromBeacon?: string;
        fromTag?: string;
        fromExternalId?: string;
        fromDescription?: string;
        toGeofence?: string;
        toBeacon?: string;
        toTag?: string;
        toExternalId?: string;
        toDescription?: string;
        flows: number;
        users: number;
        medianMinutes?: number;
      }[];
    };
  };
  'GET /v1/analytics/inside': {
    path: None;
    query: {
      from?: string;
      to?: string;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      groupBy?: "place" | "tag" | "none";
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string };
      rows: {
        geofence?: string;
        beacon?: string;
        tag?: string;
        externalId?: string;
        description?: string;
        devices: number;
        users: number;
        lastUpdatedAt: string;
      }[];
    };
  };
  'GET /v1/analytics/locations': {
    path: None;
    query: {
      from?: string;
      to?: string;
      interval?: "hour" | "day";
      timeZone?: string;
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string; interval?: "hour" | "day"; timeZone?: string };
      rows: ({
        start?: string;
        local?: string;
        result: "applied" | "repeat" | "stale" | "rejected";
        endpoint?: "track" | "replay" | "bulk" | "stage";
        code?: string;
        param?: string;
        locations: number;
      })[];
    };
  };
  'GET /v1/analytics/unique-users': {
    path: None;
    query: {
      from?: string;
      to?: string;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      groupBy?: "place" | "tag" | "none";
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string };
      rows: {
        geofence?: string;
        beacon?: string;
        tag?: string;
        externalId?: string;
        description?: string;
        users: number;
        devices: number;
        entries: number;
      }[];
    };
  };
  'GET /v1/analytics/visits': {
    path: None;
    query: {
      from?: string;
      to?: string;
      kind?: "geofence" | "beacon";
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      userId?: string;
      format?: "json" | "csv" | "parquet";
      limit?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; from: string; to: string };
      rows: ({
        entry: string;
        user: string;
        userId?: string;
        deviceId: string;
        geofence?: string;
        beacon?: string;
        tag?: string;
        externalId?: string;
        description?: string;
        enteredAt: string;
        exitedAt?: string;
        durationMinutes?: number;
        state: "ended" | "open" | "unseen";
      })[];
    };
  };
  'GET /v1/beacons': {
    path: None;
    query: {
      limit?: number;
      cursor?: string;
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
      search?: string;
      enabled?: boolean;
      sort?: "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt" | "description" | "-description";
    };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; beacons: Beacon[] };
  };
  'GET /v1/beacons/count': {
    path: None;
    query: {
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
      search?: string;
      enabled?: boolean;
    };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; count: number; complete: boolean };
  };
  'GET /v1/beacons/export': {
    path: None;
    query: {
      format?: "csv" | "geojson" | "ndjson";
      cursor?: string;
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
    };
    body: None;
    answer: unknown;
  };
  'GET /v1/beacons/outlines': {
    path: None;
    query: { limit?: number; cursor?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; outlines: Outline[] };
  };
  'GET /v1/beacons/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'GET /v1/beacons/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'GET /v1/config': {
    path: None;
    query: { clientSdkConfiguration?: string };
    body: None;
    answer: {
      meta: {
        code: number;
        featureSettings: { [name: string]: unknown };
        sdkConfiguration: { [name: string]: unknown };
      };
    };
  };
  'GET /v1/context': {
    path: None;
    query: { coordinates: string; accuracy?: number; userId?: string };
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      context: { live: boolean; geofences: GeofenceSummary[] };
      live: boolean;
      geofences: GeofenceSummary[];
    };
  };
  'GET /v1/demo': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      demo: {
        available: boolean;
        running: boolean;
        geofences: number;
        devices: number;
        locations: number;
        startedAt?: string;
        endsAt?: string;
      };
    };
  };
  'GET /v1/erasures': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; cursor?: string };
      erasures: ({
        _id: string;
        subject: "user" | "event";
        status: "running" | "done" | "failed";
        createdAt: string;
        completedAt?: string;
      })[];
    };
  };
  'GET /v1/erasures/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      erasure: {
        _id: string;
        subject: "user" | "event";
        status: "running" | "done" | "failed";
        createdAt: string;
        completedAt?: string;
      };
    };
  };
  'GET /v1/events': {
    path: None;
    query: {
      limit?: number;
      cursor?: string;
      createdBefore?: string;
      createdAfter?: string;
      type?: string;
      user?: string;
      userId?: string;
      deviceId?: string;
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
    };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; events: Event[] };
  };
  'GET /v1/events/stream': {
    path: None;
    query: {
      type?: string;
      user?: string;
      userId?: string;
      deviceId?: string;
      geofence?: string;
      beacon?: string;
      tag?: string;
      externalId?: string;
      from?: "latest" | "earliest";
      lastEventId?: string;
    };
    body: None;
    answer: unknown;
  };
  'GET /v1/events/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; event: Event };
  };
  'GET /v1/geocode/forward': {
    path: None;
    query: { query: string; country?: string; layers?: string; lang?: string; limit?: number };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; addresses: Address[] };
  };
  'GET /v1/geocode/ip': {
    path: None;
    query: { ip?: string };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; ip: string; address?: IpAddress; proxy: boolean };
  };
  'GET /v1/geocode/reverse': {
    path: None;
    query: { coordinates: string; layers?: string; lang?: string; limit?: number };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; addresses: Address[] };
  };
  'GET /v1/geofences': {
    path: None;
    query: {
      limit?: number;
      cursor?: string;
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
      search?: string;
      enabled?: boolean;
      sort?: "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt" | "description" | "-description";
    };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; geofences: Geofence[] };
  };
  'GET /v1/geofences/count': {
    path: None;
    query: {
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
      search?: string;
      enabled?: boolean;
    };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; count: number; complete: boolean };
  };
  'GET /v1/geofences/export': {
    path: None;
    query: {
      format?: "csv" | "geojson" | "ndjson";
      cursor?: string;
      createdBefore?: string;
      createdAfter?: string;
      updatedBefore?: string;
      updatedAfter?: string;
      tag?: string;
      externalId?: string;
      metadata?: { [name: string]: string };
    };
    body: None;
    answer: unknown;
  };
  'GET /v1/geofences/outlines': {
    path: None;
    query: { limit?: number; cursor?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; outlines: Outline[] };
  };
  'GET /v1/geofences/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'GET /v1/geofences/{id}/users': {
    path: { id: string };
    query: { limit?: number; cursor?: string; updatedBefore?: string; updatedAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; users: User[] };
  };
  'GET /v1/geofences/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'GET /v1/geofences/{tag}/{externalId}/users': {
    path: { tag: string; externalId: string };
    query: { limit?: number; cursor?: string; updatedBefore?: string; updatedAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; users: User[] };
  };
  'GET /v1/imports': {
    path: None;
    query: { resource: "geofences" | "beacons"; limit?: number; cursor?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; imports: Import[]; maxFileBytes: number };
  };
  'GET /v1/imports/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; import: Import };
  };
  'GET /v1/imports/{id}/planned.csv': {
    path: { id: string };
    query: None;
    body: None;
    answer: unknown;
  };
  'GET /v1/imports/{id}/rejected.csv': {
    path: { id: string };
    query: None;
    body: None;
    answer: unknown;
  };
  'GET /v1/imports/{id}/stream': {
    path: { id: string };
    query: None;
    body: None;
    answer: unknown;
  };
  'GET /v1/invitations': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; invitations: Invitation[] };
  };
  'GET /v1/map-markers': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; mapMarkers: MapMarker[] };
  };
  'GET /v1/map-markers/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; mapMarker: MapMarker };
  };
  'GET /v1/map-markers/{id}/image': {
    path: { id: string };
    query: None;
    body: None;
    answer: unknown;
  };
  'GET /v1/map-styles': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; mapStyles: MapStyle[] };
  };
  'GET /v1/map-styles/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      mapStyle: {
        _id: string;
        live: boolean;
        createdAt: string;
        updatedAt: string;
        name?: string;
        bytes: number;
        style: { [name: string]: unknown };
      };
    };
  };
  'GET /v1/members': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; members: Member[] };
  };
  'GET /v1/places': {
    path: None;
    query: { limit?: number; cursor?: string; updatedBefore?: string; updatedAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; places: Place[] };
  };
  'GET /v1/places/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; place: Place };
  };
  'GET /v1/positions': {
    path: None;
    query: { limit?: number; after?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean }; positions: UserPosition[] };
  };
  'GET /v1/projects': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; projects: Project[] };
  };
  'GET /v1/projects/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; project: Project };
  };
  'GET /v1/replays/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; replay: Replay };
  };
  'GET /v1/replays/{id}/events': {
    path: { id: string };
    query: { foundIn?: "replay" | "record" | "both"; limit?: number; cursor?: string };
    body: None;
    answer: {
      meta: { code: number; hasMore: boolean; cursor?: string };
      events: { firstLocation: boolean; event: Event }[];
    };
  };
  'GET /v1/route/distance': {
    path: None;
    query: {
      origin: string;
      destination: string;
      modes?: string;
      units?: "metric" | "imperial";
      avoid?: string;
      geometry?: "linestring" | "polyline" | "polyline5" | "polyline6";
      geometryPoints?: number;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      routes: {
        geodesic: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
        car?: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
        truck?: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
        foot?: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
        bike?: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
        motorbike?: {
          distance: { value: number; text: string };
          duration?: { value: number; text: string };
          geometry?: unknown;
        };
      };
    };
  };
  'GET /v1/route/isochrone': {
    path: None;
    query: { coordinates: string; radius: number; mode: "car" | "truck" | "foot" | "bike" | "motorbike" };
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      isochrone: {
        geometry: { type: "Polygon"; coordinates: [number, number][][] };
        source: { provider: string; providerVersion?: string; roadDataAt?: string; computedAt: string };
      };
    };
  };
  'GET /v1/route/matrix': {
    path: None;
    query: {
      origins: string;
      destinations: string;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike";
      units?: "metric" | "imperial";
      avoid?: string;
    };
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      origins: { latitude: number; longitude: number }[];
      destinations: { latitude: number; longitude: number }[];
      matrix: {
        originIndex: number;
        destinationIndex: number;
        distance?: { value: number; text: string };
        duration?: { value: number; text: string };
      }[][];
    };
  };
  'GET /v1/search/autocomplete': {
    path: None;
    query: {
      query: string;
      near?: string;
      countryCode?: string;
      country?: string;
      postalCode?: string;
      layers?: string;
      lang?: string;
      limit?: number;
    };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; addresses: Address[] };
  };
  'GET /v1/search/beacons': {
    path: None;
    query: { near: string; radius?: number; limit?: number };
    body: None;
    answer: { meta: { code: number; settings: { beacons: { uuids: string[]; uids: string[] } } }; beacons: Beacon[] };
  };
  'GET /v1/search/geofences': {
    path: None;
    query: {
      near: string;
      limit?: number;
      radius?: number;
      tags?: string;
      metadata?: unknown;
      includeGeometry?: boolean;
      includeGeometries?: boolean;
    };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; geofences: Geofence[] };
  };
  'GET /v1/search/places': {
    path: None;
    query: { near: string; radius?: number; chains?: string; categories?: string; groups?: string; limit?: number };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; places: PlaceSummary[] };
  };
  'GET /v1/session': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'GET /v1/sessions': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; sessions: SignedInBrowser[] };
  };
  'GET /v1/settings': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; settings: Settings };
  };
  'GET /v1/status': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; status: Status };
  };
  'GET /v1/sync': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; sync: Sync };
  };
  'GET /v1/topics': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      topics: { topic: string; schemaId: number; partitions: { partition: number; first: number; end: number }[] }[];
    };
  };
  'GET /v1/topics/events': {
    path: None;
    query: { partition?: number; from?: string; limit?: number; waitMs?: number };
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      topic: string;
      next: string;
      partitions: { partition: number; first: number; end: number; next: number; missing?: number }[];
      records: ({
        partition: number;
        offset: number;
        key: string;
        timestamp: number;
        schemaId: number | null;
        value: string;
        event: Event | null;
      })[];
    };
  };
  'GET /v1/topics/events/schema': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; topic: string; schemaId: number; schema: unknown };
  };
  'GET /v1/users': {
    path: None;
    query: { limit?: number; cursor?: string; updatedBefore?: string; updatedAfter?: string; search?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; users: User[] };
  };
  'GET /v1/users/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; user: User };
  };
  'GET /v1/users/{id}/locations': {
    path: { id: string };
    query: { limit?: number; cursor?: string; before?: string; after?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; locations: UserLocation[] };
  };
  'GET /v1/users/{id}/locations/{locationId}/explanation': {
    path: { id: string; locationId: string };
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      location: UserLocation;
      before?: { at: string; geofences: { _id: string; since: string }[] };
      explanation: Explanation;
      events: Event[];
    };
  };
  'GET /v1/webhooks': {
    path: None;
    query: { limit?: number; cursor?: string; createdBefore?: string; createdAfter?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; webhooks: Webhook[] };
  };
  'GET /v1/webhooks/{id}': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
  'GET /v1/webhooks/{id}/attempts': {
    path: { id: string };
    query: {
      limit?: number;
      cursor?: string;
      before?: string;
      after?: string;
      result?: "delivered" | "refused" | "redirected" | "gone" | "address_refused" | "name_not_found" | "connection_failed" | "tls_failed" | "timed_out" | "invalid_answer" | "secret_unreadable" | "expired";
      state?: "delivered" | "retrying" | "given_up";
      delivery?: string;
      event?: string;
    };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; attempts: Attempt[] };
  };
  'GET /v1/webhooks/{id}/deliveries': {
    path: { id: string };
    query: { limit?: number; cursor?: string };
    body: None;
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; deliveries: WaitingDelivery[] };
  };
  'PATCH /v1/beacons/{id}': {
    path: { id: string };
    query: None;
    body: {
      description?: string;
      type?: "ibeacon" | "eddystone";
      uuid?: string | null;
      major?: string | null;
      minor?: string | null;
      uid?: string | null;
      instance?: string | null;
      coordinates?: [number, number] | string;
      enabled?: boolean | null;
      metadata?: { [name: string]: string | boolean | number | null } | string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'PATCH /v1/beacons/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: {
      description?: string;
      type?: "ibeacon" | "eddystone";
      uuid?: string | null;
      major?: string | null;
      minor?: string | null;
      uid?: string | null;
      instance?: string | null;
      coordinates?: [number, number] | string;
      enabled?: boolean | null;
      metadata?: { [name: string]: string | boolean | number | null } | string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'PATCH /v1/geofences/{id}': {
    path: { id: string };
    query: None;
    body: {
      description?: string;
      type?: "circle" | "polygon" | "isochrone";
      placeId?: string | null;
      address?: string | null;
      coordinates?: [number, number] | [number, number][] | string | null;
      radius?: number | null;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike" | null;
      enabled?: boolean | null;
      metadata?: { [name: string]: string | boolean | number | null } | string | null;
      operatingHours?: { [name: string]: [string, string][] } | string | null;
      stopDetection?: boolean | null;
      dwellThreshold?: number | null;
      disableAfter?: string | null;
      deleteAfter?: string | null;
      userIds?: string | null;
      userId?: string | null;
      ip?: string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'PATCH /v1/geofences/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: {
      description?: string;
      type?: "circle" | "polygon" | "isochrone";
      placeId?: string | null;
      address?: string | null;
      coordinates?: [number, number] | [number, number][] | string | null;
      radius?: number | null;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike" | null;
      enabled?: boolean | null;
      metadata?: { [name: string]: string | boolean | number | null } | string | null;
      operatingHours?: { [name: string]: [string, string][] } | string | null;
      stopDetection?: boolean | null;
      dwellThreshold?: number | null;
      disableAfter?: string | null;
      deleteAfter?: string | null;
      userIds?: string | null;
      userId?: string | null;
      ip?: string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'PATCH /v1/map-markers/{id}': {
    path: { id: string };
    query: None;
    body: { name?: string | null; image?: string };
    answer: { meta: { code: number; hasMore?: boolean }; mapMarker: MapMarker };
  };
  'PATCH /v1/map-styles/{id}': {
    path: { id: string };
    query: None;
    body: { name?: string | null; style?: { [name: string]: unknown } };
    answer: {
      meta: { code: number; hasMore?: boolean };
      mapStyle: MapStyle;
      unsupported: ({ layer: string | null; property: string | null; message: string })[];
    };
  };
  'PATCH /v1/places/{id}': {
    path: { id: string };
    query: None;
    body: {
      name?: string;
      geometry?: {
        type: "Point";
        coordinates: [number, number];
      } | { type: "Polygon"; coordinates: [number, number][][] } | string;
      categories?: string[] | string | null;
      chain?: { slug: string; name: string } | string | null;
      address?: string | null;
      metadata?: { [name: string]: string | boolean | number | null } | string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; place: Place };
  };
  'PATCH /v1/projects/{id}': {
    path: { id: string };
    query: None;
    body: { name?: string; plan?: "basic" | "enterprise" | null };
    answer: { meta: { code: number; hasMore?: boolean }; project: Project };
  };
  'PATCH /v1/settings': {
    path: None;
    query: None;
    body: {
      stopDetection?: boolean | null;
      bufferEntries?: boolean | null;
      bufferExits?: boolean | null;
      restrictToOperatingHours?: boolean | null;
      dwellEvents?: boolean | null;
      defaultDwellThreshold?: number | null;
      minimumConfidence?: number | null;
      beaconUuids?: string[] | null;
      beaconUids?: string[] | null;
      allowedOrigins?: string[] | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; settings: Settings };
  };
  'PATCH /v1/sync': {
    path: None;
    query: None;
    body: {
      enabled?: boolean | null;
      notificationEmail?: string | null;
      protocol?: "http" | "s3";
      urls?: string[] | null;
      region?: string | null;
      bucket?: string | null;
      keys?: string[] | null;
      endpoint?: string | null;
      accessKeyId?: string | null;
      secretAccessKey?: string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; sync: Sync };
  };
  'PATCH /v1/webhooks/{id}': {
    path: { id: string };
    query: None;
    body: {
      url?: string;
      description?: string | null;
      types?: string[] | null;
      tags?: string[] | null;
      delivery?: "single" | "grouped" | null;
      enabled?: boolean | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
  'POST /v1/account/delete': {
    path: None;
    query: None;
    body: { password: string };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/account/projects': {
    path: None;
    query: None;
    body: { name: string };
    answer: { meta: { code: number; hasMore?: boolean }; project: Project; session: Session };
  };
  'POST /v1/backup-snapshots': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; snapshot: BackupSnapshot };
  };
  'POST /v1/beacons': {
    path: None;
    query: None;
    body: {
      description: string;
      type: "ibeacon" | "eddystone";
      tag?: string;
      externalId?: string;
      uuid?: string;
      major?: string;
      minor?: string;
      uid?: string;
      instance?: string;
      coordinates: [number, number] | string;
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'POST /v1/beacons/batch': {
    path: None;
    query: { dryRun?: boolean };
    body: {
      beacons: ({
        description: string;
        type: "ibeacon" | "eddystone";
        tag?: string;
        externalId?: string;
        uuid?: string;
        major?: string;
        minor?: string;
        uid?: string;
        instance?: string;
        coordinates: [number, number] | string;
        enabled?: boolean;
        metadata?: { [name: string]: string | boolean | number | null } | string;
      })[];
    };
    answer: {
      meta: { code: number; hasMore?: boolean };
      created: number;
      updated: number;
      unchanged: number;
      rejected: number;
      results: ({
        index: number;
        action: "created" | "updated" | "unchanged" | "rejected";
        _id?: string;
        tag?: string;
        externalId?: string;
        error?: { type: string; param: string; message: string };
      })[];
    };
  };
  'POST /v1/beacons/bulk': {
    path: None;
    query: None;
    body: { action: "enable" | "disable" | "delete"; ids: string[] };
    answer: { meta: { code: number; hasMore?: boolean }; changed: number; unchanged: number; missing: number };
  };
  'POST /v1/beacons/import': {
    path: None;
    query: { dryRun?: boolean; fileName?: string; wait?: number };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; import: Import };
  };
  'POST /v1/demo': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      demo: {
        available: boolean;
        running: boolean;
        geofences: number;
        devices: number;
        locations: number;
        startedAt?: string;
        endsAt?: string;
      };
    };
  };
  'POST /v1/demo/stop': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      demo: {
        available: boolean;
        running: boolean;
        geofences: number;
        devices: number;
        locations: number;
        startedAt?: string;
        endsAt?: string;
      };
    };
  };
  'POST /v1/events': {
    path: None;
    query: None;
    body: {
      name?: string;
      type?: string;
      userId?: string;
      deviceId?: string;
      installId?: string;
      createdAt?: string;
      revenue?: number;
      duration?: number;
      metadata?: unknown;
    };
    answer: { meta: { code: number; hasMore?: boolean }; event: Event };
  };
  'POST /v1/explain': {
    path: None;
    query: None;
    body: {
      location: {
        deviceId?: string;
        userId?: string;
        latitude: number;
        longitude: number;
        accuracy: number;
        foreground?: boolean;
        stopped?: boolean;
        replayed?: boolean;
        beacons?: ({
          type: "ibeacon" | "eddystone";
          uuid?: string;
          major?: string;
          minor?: string;
          uid?: string;
          instance?: string;
          rssi?: number;
        })[];
        updatedAtMsDiff?: number;
        updatedAtMs?: number;
        updatedAt?: string;
        description?: string;
        metadata?: { [name: string]: string | boolean | number };
        installId?: string;
        sessionId?: string;
        source?: string;
        deviceType?: string;
        deviceMake?: string;
        deviceModel?: string;
        deviceOS?: string;
        sdkVersion?: string;
        locationAuthorization?: string;
        locationAccuracyAuthorization?: string;
        altitude?: number;
        speed?: number;
        course?: number;
        timeZoneOffset?: number;
        locationMs?: number;
        nearbyGeofences?: boolean;
        nearbyGeofencesLimit?: number;
        ip?: string;
      };
      geofence?: string;
      state?: {
        geofences?: (string | { _id: string; since?: string })[];
        beacons?: (string | { _id: string; since?: string })[];
      };
    } | {
      deviceId?: string;
      userId?: string;
      latitude: number;
      longitude: number;
      accuracy: number;
      foreground?: boolean;
      stopped?: boolean;
      replayed?: boolean;
      beacons?: ({
        type: "ibeacon" | "eddystone";
        uuid?: string;
        major?: string;
        minor?: string;
        uid?: string;
        instance?: string;
        rssi?: number;
      })[];
      updatedAtMsDiff?: number;
      updatedAtMs?: number;
      updatedAt?: string;
      description?: string;
      metadata?: { [name: string]: string | boolean | number };
      installId?: string;
      sessionId?: string;
      source?: string;
      deviceType?: string;
      deviceMake?: string;
      deviceModel?: string;
      deviceOS?: string;
      sdkVersion?: string;
      locationAuthorization?: string;
      locationAccuracyAuthorization?: string;
      altitude?: number;
      speed?: number;
      course?: number;
      timeZoneOffset?: number;
      locationMs?: number;
      nearbyGeofences?: boolean;
      nearbyGeofencesLimit?: number;
      ip?: string;
      geofence?: string;
      state?: {
        geofences?: (string | { _id: string; since?: string })[];
        beacons?: (string | { _id: string; since?: string })[];
      };
    };
    answer: { meta: { code: number; hasMore?: boolean }; explanation: Explanation };
  };
  'POST /v1/geofences': {
    path: None;
    query: None;
    body: {
      description: string;
      type: "circle" | "polygon" | "isochrone";
      tag: string;
      externalId: string;
      placeId?: string;
      address?: string;
      coordinates?: [number, number] | [number, number][] | string;
      radius?: number;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike";
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
      operatingHours?: { [name: string]: [string, string][] } | string;
      stopDetection?: boolean;
      dwellThreshold?: number;
      disableAfter?: string;
      deleteAfter?: string;
      userIds?: string;
      userId?: string;
      ip?: string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'POST /v1/geofences/batch': {
    path: None;
    query: { dryRun?: boolean };
    body: {
      geofences: ({
        description: string;
        type: "circle" | "polygon" | "isochrone";
        tag: string;
        externalId: string;
        placeId?: string;
        address?: string;
        coordinates?: [number, number] | [number, number][] | string;
        radius?: number;
        mode?: "car" | "truck" | "foot" | "bike" | "motorbike";
        enabled?: boolean;
        metadata?: { [name: string]: string | boolean | number | null } | string;
        operatingHours?: { [name: string]: [string, string][] } | string;
        stopDetection?: boolean;
        dwellThreshold?: number;
        disableAfter?: string;
        deleteAfter?: string;
        userIds?: string;
        userId?: string;
        ip?: string;
      })[];
    };
    answer: {
      meta: { code: number; hasMore?: boolean };
      created: number;
      updated: number;
      unchanged: number;
      rejected: number;
      results: ({
        index: number;
        action: "created" | "updated" | "unchanged" | "rejected";
        _id?: string;
        tag?: string;
        externalId?: string;
        error?: { type: string; param: string; message: string };
      })[];
    };
  };
  'POST /v1/geofences/bulk': {
    path: None;
    query: None;
    body: { action: "enable" | "disable" | "delete"; ids: string[] };
    answer: { meta: { code: number; hasMore?: boolean }; changed: number; unchanged: number; missing: number };
  };
  'POST /v1/geofences/import': {
    path: None;
    query: { dryRun?: boolean; fileName?: string; wait?: number };
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; import: Import };
  };
  'POST /v1/imports/{id}/stop': {
    path: { id: string };
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; import: Import };
  };
  'POST /v1/invitations': {
    path: None;
    query: None;
    body: { email: string; role: "owner" | "viewer" };
    answer: { meta: { code: number; hasMore?: boolean }; invitation: Invitation };
  };
  'POST /v1/invitations/accept': {
    path: None;
    query: None;
    body: { token: string; password: string };
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'POST /v1/invitations/preview': {
    path: None;
    query: None;
    body: { token: string };
    answer: { meta: { code: number; hasMore?: boolean }; invitation: ReceivedInvitation };
  };
  'POST /v1/locations': {
    path: None;
    query: None;
    body: None;
    answer: {
      meta: { code: number; hasMore?: boolean };
      accepted: number;
      rejected: number;
      rejections: { line: number; param: string; message: string }[];
    };
  };
  'POST /v1/logs': {
    path: None;
    query: None;
    body: { logs: unknown[] };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/map-markers': {
    path: None;
    query: { name?: string };
    body: { name?: string; image: string };
    answer: { meta: { code: number; hasMore?: boolean }; mapMarker: MapMarker };
  };
  'POST /v1/map-styles': {
    path: None;
    query: None;
    body: { name?: string; style: { [name: string]: unknown } };
    answer: {
      meta: { code: number; hasMore?: boolean };
      mapStyle: MapStyle;
      unsupported: ({ layer: string | null; property: string | null; message: string })[];
    };
  };
  'POST /v1/password/reset': {
    path: None;
    query: None;
    body: { email: string };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/password/reset/confirm': {
    path: None;
    query: None;
    body: { token: string; password: string };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/places/batch': {
    path: None;
    query: None;
    body: {
      places: ({
        _id: string;
        name: string;
        geometry: {
          type: "Point";
          coordinates: [number, number];
        } | { type: "Polygon"; coordinates: [number, number][][] } | string;
        categories?: string[] | string;
        chain?: { slug: string; name: string } | string;
        address?: string;
        metadata?: { [name: string]: string | boolean | number | null } | string;
      })[];
    };
    answer: {
      meta: { code: number; hasMore?: boolean };
      created: number;
      updated: number;
      unchanged: number;
      problems: { index: number; param?: string; message: string }[];
    };
  };
  'POST /v1/projects': {
    path: None;
    query: None;
    body: { name: string; plan?: "basic" | "enterprise" };
    answer: { meta: { code: number; hasMore?: boolean }; project: Project };
  };
  'POST /v1/projects/{id}/keys/rotate': {
    path: { id: string };
    query: None;
    body: { environment: "test" | "live"; kind: "publishable" | "secret" };
    answer: { meta: { code: number; hasMore?: boolean }; key: string; project: Project };
  };
  'POST /v1/replays': {
    path: None;
    query: None;
    body: {
      from?: string;
      to?: string;
      warmUpHours?: number;
      geofences?: { [name: string]: unknown }[];
      keepGeofences?: boolean;
      settings?: { [name: string]: unknown };
    };
    answer: { meta: { code: number; hasMore?: boolean }; replay: Replay };
  };
  'POST /v1/search/autocomplete/click': {
    path: None;
    query: None;
    body: { [name: string]: unknown };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/signin': {
    path: None;
    query: None;
    body: { email: string; password: string };
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'POST /v1/signin/link': {
    path: None;
    query: None;
    body: { token: string };
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'POST /v1/signin/links': {
    path: None;
    query: None;
    body: { project?: string };
    answer: { meta: { code: number; hasMore?: boolean }; token: string; url: string; expiresAt: string };
  };
  'POST /v1/signout': {
    path: None;
    query: None;
    body: { everywhere?: boolean };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'POST /v1/signup': {
    path: None;
    query: None;
    body: { email: string; password: string; project?: string };
    answer: {
      meta: { code: number; hasMore?: boolean };
      account?: Account;
      project?: Project;
      session?: Session;
      confirmation?: "mailed";
    };
  };
  'POST /v1/signup/confirm': {
    path: None;
    query: None;
    body: { token: string };
    answer: { meta: { code: number; hasMore?: boolean }; account: Account; project: Project; session: Session };
  };
  'POST /v1/sync/region': {
    path: None;
    query: None;
    body: { latitude: number; longitude: number; userId?: string };
    answer: {
      meta: { code: number; hasMore?: boolean };
      geofences: Geofence[];
      beacons: Beacon[];
      places: unknown[];
      region: { latitude: number; longitude: number; radius: number };
    };
  };
  'POST /v1/sync/run': {
    path: None;
    query: None;
    body: None;
    answer: { meta: { code: number; hasMore?: boolean }; sync: Sync };
  };
  'POST /v1/track': {
    path: None;
    query: None;
    body: {
      deviceId: string;
      userId?: string;
      latitude: number;
      longitude: number;
      accuracy: number;
      foreground?: boolean;
      stopped?: boolean;
      replayed?: boolean;
      beacons?: ({
        type: "ibeacon" | "eddystone";
        uuid?: string;
        major?: string;
        minor?: string;
        uid?: string;
        instance?: string;
        rssi?: number;
      })[];
      updatedAtMsDiff?: number;
      updatedAtMs?: number;
      updatedAt?: string;
      description?: string;
      metadata?: { [name: string]: string | boolean | number };
      installId?: string;
      sessionId?: string;
      source?: string;
      deviceType?: string;
      deviceMake?: string;
      deviceModel?: string;
      deviceOS?: string;
      sdkVersion?: string;
      locationAuthorization?: string;
      locationAccuracyAuthorization?: string;
      altitude?: number;
      speed?: number;
      course?: number;
      timeZoneOffset?: number;
      locationMs?: number;
      nearbyGeofences?: boolean;
      nearbyGeofencesLimit?: number;
    };
    answer: {
      meta: { code: number; pending?: boolean; notEntered?: number };
      events: Event[];
      user: User;
      nearbyGeofences?: Geofence[];
      rejections?: { index: number; param: string; message: string }[];
    };
  };
  'POST /v1/track/replay': {
    path: None;
    query: None;
    body: {
      replays: ({
        deviceId: string;
        userId?: string;
        latitude: number;
        longitude: number;
        accuracy: number;
        foreground?: boolean;
        stopped?: boolean;
        replayed?: boolean;
        beacons?: ({
          type: "ibeacon" | "eddystone";
          uuid?: string;
          major?: string;
          minor?: string;
          uid?: string;
          instance?: string;
          rssi?: number;
        })[];
        updatedAtMsDiff?: number;
        updatedAtMs?: number;
        updatedAt?: string;
        description?: string;
        metadata?: { [name: string]: string | boolean | number };
        installId?: string;
        sessionId?: string;
        source?: string;
        deviceType?: string;
        deviceMake?: string;
        deviceModel?: string;
        deviceOS?: string;
        sdkVersion?: string;
        locationAuthorization?: string;
        locationAccuracyAuthorization?: string;
        altitude?: number;
        speed?: number;
        course?: number;
        timeZoneOffset?: number;
        locationMs?: number;
        nearbyGeofences?: boolean;
        nearbyGeofencesLimit?: number;
      })[];
    };
    answer: {
      meta: { code: number; pending?: boolean; notEntered?: number };
      events: Event[];
      user: User;
      nearbyGeofences?: Geofence[];
      rejections?: { index: number; param: string; message: string }[];
    };
  };
  'POST /v1/webhooks': {
    path: None;
    query: None;
    body: {
      url: string;
      description?: string | null;
      types?: string[] | null;
      tags?: string[] | null;
      delivery?: "single" | "grouped" | null;
      enabled?: boolean | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
  'POST /v1/webhooks/{id}/redeliver': {
    path: { id: string };
    query: None;
    body: { event?: string; from?: string; to?: string; state?: "failed"; cursor?: string };
    answer: { meta: { code: number; hasMore: boolean; cursor?: string }; deliveries: number };
  };
  'POST /v1/webhooks/{id}/secrets': {
    path: { id: string };
    query: None;
    body: { overlapHours?: number };
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
  'POST /v1/webhooks/{id}/test': {
    path: { id: string };
    query: None;
    body: { type?: string };
    answer: { meta: { code: number; hasMore?: boolean }; attempt: Attempt };
  };
  'PUT /v1/beacons/{id}': {
    path: { id: string };
    query: None;
    body: {
      description: string;
      type: "ibeacon" | "eddystone";
      uuid?: string;
      major?: string;
      minor?: string;
      uid?: string;
      instance?: string;
      coordinates: [number, number] | string;
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'PUT /v1/beacons/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: {
      description: string;
      type: "ibeacon" | "eddystone";
      uuid?: string;
      major?: string;
      minor?: string;
      uid?: string;
      instance?: string;
      coordinates: [number, number] | string;
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; beacon: Beacon };
  };
  'PUT /v1/events/{id}/verification': {
    path: { id: string };
    query: None;
    body: { verification: number; verifiedPlaceId?: string };
    answer: { meta: { code: number; hasMore?: boolean } };
  };
  'PUT /v1/geofences/{id}': {
    path: { id: string };
    query: None;
    body: {
      description: string;
      type: "circle" | "polygon" | "isochrone";
      placeId?: string;
      address?: string;
      coordinates?: [number, number] | [number, number][] | string;
      radius?: number;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike";
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
      operatingHours?: { [name: string]: [string, string][] } | string;
      stopDetection?: boolean;
      dwellThreshold?: number;
      disableAfter?: string;
      deleteAfter?: string;
      userIds?: string;
      userId?: string;
      ip?: string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'PUT /v1/geofences/{tag}/{externalId}': {
    path: { tag: string; externalId: string };
    query: None;
    body: {
      description: string;
      type: "circle" | "polygon" | "isochrone";
      placeId?: string;
      address?: string;
      coordinates?: [number, number] | [number, number][] | string;
      radius?: number;
      mode?: "car" | "truck" | "foot" | "bike" | "motorbike";
      enabled?: boolean;
      metadata?: { [name: string]: string | boolean | number | null } | string;
      operatingHours?: { [name: string]: [string, string][] } | string;
      stopDetection?: boolean;
      dwellThreshold?: number;
      disableAfter?: string;
      deleteAfter?: string;
      userIds?: string;
      userId?: string;
      ip?: string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; geofence: Geofence };
  };
  'PUT /v1/map-styles/{id}': {
    path: { id: string };
    query: None;
    body: { name?: string | null; style?: { [name: string]: unknown } };
    answer: {
      meta: { code: number; hasMore?: boolean };
      mapStyle: MapStyle;
      unsupported: ({ layer: string | null; property: string | null; message: string })[];
    };
  };
  'PUT /v1/members/{id}': {
    path: { id: string };
    query: None;
    body: { role: "owner" | "viewer" };
    answer: { meta: { code: number; hasMore?: boolean }; members: Member[] };
  };
  'PUT /v1/password': {
    path: None;
    query: None;
    body: { current: string; password: string };
    answer: { meta: { code: number; hasMore?: boolean }; session: Session };
  };
  'PUT /v1/places/{id}': {
    path: { id: string };
    query: None;
    body: {
      name: string;
      geometry: {
        type: "Point";
        coordinates: [number, number];
      } | { type: "Polygon"; coordinates: [number, number][][] } | string;
      categories?: string[] | string;
      chain?: { slug: string; name: string } | string;
      address?: string;
      metadata?: { [name: string]: string | boolean | number | null } | string;
    };
    answer: { meta: { code: number; hasMore?: boolean }; place: Place };
  };
  'PUT /v1/projects/{id}/plan': {
    path: { id: string };
    query: None;
    body: { plan: "basic" | "enterprise" };
    answer: { meta: { code: number; hasMore?: boolean }; project: Project };
  };
  'PUT /v1/settings': {
    path: None;
    query: None;
    body: {
      stopDetection?: boolean | null;
      bufferEntries?: boolean | null;
      bufferExits?: boolean | null;
      restrictToOperatingHours?: boolean | null;
      dwellEvents?: boolean | null;
      defaultDwellThreshold?: number | null;
      minimumConfidence?: number | null;
      beaconUuids?: string[] | null;
      beaconUids?: string[] | null;
      allowedOrigins?: string[] | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; settings: Settings };
  };
  'PUT /v1/sync': {
    path: None;
    query: None;
    body: {
      enabled?: boolean | null;
      notificationEmail?: string | null;
      protocol?: "http" | "s3";
      urls?: string[] | null;
      region?: string | null;
      bucket?: string | null;
      keys?: string[] | null;
      endpoint?: string | null;
      accessKeyId?: string | null;
      secretAccessKey?: string | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; sync: Sync };
  };
  'PUT /v1/webhooks/{id}': {
    path: { id: string };
    query: None;
    body: {
      url?: string;
      description?: string | null;
      types?: string[] | null;
      tags?: string[] | null;
      delivery?: "single" | "grouped" | null;
      enabled?: boolean | null;
    };
    answer: { meta: { code: number; hasMore?: boolean }; webhook: Webhook };
  };
}
