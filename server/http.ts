/**
 * The HTTP server of a node with its metrics, and the routes of ingest and API. Both backends use it.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ApiDependencies } from '../api/dependencies.js';
import { createPlaceFollower } from '../api/places/follower.js';
import { apiRoutes } from '../api/routes.js';
import { type SdkDependencies, sdkMetrics } from '../api/sdk/dependencies.js';
import { sdkRoutes } from '../api/sdk/routes.js';
import { dashboardRoutes } from '../api/web/routes.js';
import { createKeyRing } from '../http/access/keys.js';
import type { Sessions } from '../http/access/sessions.js';
import { createHttpServer } from '../http/server.js';
import { exportRoutes } from '../imports/export/routes.js';
import { createImporter, defaultImportBounds, type Importer, type ImporterParts } from '../imports/importer.js';
import { geometryResolver } from '../imports/resources.js';
import { type ImportDependencies, importRoutes } from '../imports/routes.js';
import { uploadsPerRunningImport } from '../imports/uploads.js';
import type { IngestDependencies } from '../ingest/dependencies.js';
import { storedState } from '../ingest/last-known.js';
import { ingestMetrics } from '../ingest/metrics.js';
import { ingestRoutes } from '../ingest/routes.js';
import { networksOf } from '../outbound/addresses.js';
import type { Mailer } from '../outbound/mail/mail.js';
import type { ReadModel } from '../pipeline/catalog/store/read-model.js';
import type { EncodedWriter } from '../pipeline/catalog/types.js';
import type { SecretCipher } from '../pipeline/encryption.js';
import type { HeldLeases } from '../pipeline/held-lease.js';
import type { DeliveryQueue, ExpiringValues, Leases, StateStore } from '../pipeline/ports.js';
import { createSingleAttempt } from '../pipeline/stages/webhooks/attempt.js';
import type { Sweeper, TakeLease } from '../pipeline/sweeper.js';
import type { RoadProvider } from '../providers/roads/provider.js';
import { type ReplaySource, runInProcess } from '../replay/child.js';
import { defaultJobBounds } from '../replay/job.js';
import { createReplays } from '../replay/replays.js';
import { replayRoutes } from '../replay/routes.js';
import { sha256Hex } from '../schemas/sha256.js';
import { demoRoutes } from '../simulation/routes.js';
import { createNodeAccounts } from './accounts.js';
import { atMostEvery, lagAt } from './backlog.js';
import type { Configuration } from './config/schema.js';
import { readModelFolder } from './data-folder/folders.js';
import type { Demand } from './demand.js';
import { createGeocoding } from './geocoding.js';
import type { Maps } from './maps.js';
import { queryMemoryMib, usableMemoryBytes } from './memory.js';
import {
  addGauge,
  apiMetrics,
  createRecorder,
  createRequestObserver,
  observeCaches,
  type Recorder,
  slowStreams,
} from './metrics.js';
import { countImport, countSyncRun, observedServices } from './observed-services.js';
import { shareHistory } from './shares.js';
import { addSync } from './sync.js';
import { createImportThread } from './threads/import-host.js';
import type { NodeTracing } from './tracing/types.js';
import { version } from './version.js';
import type { createWebhookClient } from './webhook-client.js';

/** What the HTTP server, its routes and the roles of a node share. */
export interface NodeParts {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly tracing: NodeTracing | undefined;
  readonly readModel: ReadModel;
  readonly adminApiKey: string;
  readonly sessions: Sessions;
  readonly secretCipher: SecretCipher;
  readonly values: ExpiringValues;
  readonly heldLeases: HeldLeases;
  /** Keeps answers under an Idempotency-Key. */
  readonly answers: ExpiringValues;
  readonly demand: Demand;
  /**
   * In a cluster: resolves when the read model contains every change that was acknowledged before the call.
   */
  readonly catchUp?: () => Promise<void>;
}

const replayModule = new URL('../replay/process.js', import.meta.url);
/** How often a node reads the lag of evaluation, however many clients ask. */
const lagEveryMs = 1_000;

/** Beside the compiled modules: the build writes it. */
const dashboardFolder = fileURLToPath(new URL('../dashboard', import.meta.url));

/** Creates the server, without routes. */
export const createNodeServer = (node: NodeParts): FastifyInstance => {
  const { configuration, logger, readModel, registry, sessions, values, answers, secretCipher, tracing } = node;
  const observe = createRequestObserver(registry);
  const proxies = networksOf(configuration.http.trustedProxies);
  return createHttpServer({
    logger,
    keyRing: createKeyRing(readModel, node.catchUp),
    adminApiKeySha256: sha256Hex(node.adminApiKey),
    sessionAccess: { sessions, configuration: readModel },
    rateLimits: configuration.limits,
    openApi: {
      title: 'Fenceline',
      version,
      description: 'Geofence and beacon events from locations, each of which is applied exactly once.',
    },
    trustProxy: configuration.http.trustedProxies.length > 0 ? [...configuration.http.trustedProxies] : false,
    bodyLimitBytes: configuration.http.maxBodyBytes,
    maxBufferedBodyBytes: configuration.http.maxBufferedBodyBytes,
    maxUnsentBytes: configuration.http.maxUnsentBytes,
    connections: {
      maxConnections: configuration.http.maxConnections,
      maxConnectionsPerAddress: configuration.http.maxConnectionsPerAddress,
      proxies,
      bodyTimeoutMs: configuration.http.bodyTimeoutMs,
      minBodyBytesPerSecond: configuration.http.minBodyBytesPerSecond,
    },
    idempotency: { values, answers, secretCipher, isOnlyNode: configuration.backend === 'embedded' },
    observe(request) {
      node.demand.note();
      observe(request);
    },
    tracing,
  });
};

type IngestGiven = Pick<IngestDependencies, 'log' | 'states' | 'inbox' | 'paceBulk' | 'rejections'> &
  Pick<SdkDependencies, 'spatial'> & { readonly roads: RoadProvider | undefined };

/** Adds the routes that take locations, and the other calls of SDKs. */
export async function addIngest(
  app: FastifyInstance,
  { configuration, readModel, registry, tracing, values }: NodeParts,
  given: IngestGiven,
): Promise<void> {
  await app.register(ingestRoutes, {
    ...given,
    configuration: readModel,
    values,
    clock: Date.now,
    tracing,
    bounds: {
      replyTimeoutMs: configuration.ingest.replyTimeoutMs,
      maxInFlightRecords: configuration.ingest.maxInFlightRecords,
      maxReplayBodyBytes: configuration.http.maxReplayBodyBytes,
    },
    metrics: createRecorder(ingestMetrics, registry),
  });
  await app.register(sdkRoutes, {
    ...given,
    configuration: readModel,
    states: (scope, deviceId) => storedState({ ...scope, deviceId }, given),
    clock: Date.now,
    maxLogsBytes: configuration.http.maxReplayBodyBytes,
    metrics: createRecorder(sdkMetrics, registry),
    routes: given.roads?.routes,
  });
}

/** Where the API reads and writes, beside the read model. */
interface ApiStores {
  readonly log: ApiDependencies['log'];
  readonly states: Pick<StateStore, 'load'>;
  readonly deliveries: Pick<DeliveryQueue, 'waiting'>;
  readonly leases: Leases;
  readonly takeLease: TakeLease;
}

/** What the API calls outside of this thread and its stores. */
export interface ApiServices {
  readonly maps: Maps;
  readonly roads: RoadProvider | undefined;
  readonly mailer: Mailer;
  readonly webhookClient: ReturnType<typeof createWebhookClient>;
}

interface ApiGiven extends Pick<ApiDependencies, 'spatial' | 'analytics' | 'erasesNothing'> {
  readonly writer: EncodedWriter;
  readonly stores: ApiStores;
  readonly services: ApiServices;
  /** Throws while nothing can be stored. For calls that have effects before they store. */
  readonly admitWrite?: (() => void) | undefined;
  /** Returns, per partition, the offset of the next location to evaluate. */
  readonly nextOffsets: () => Promise<readonly number[]>;
  /** Where replays read the log. */
  readonly replaySource: ReplaySource;
  /** No other node shares the stores. */
  readonly isOnlyNode?: boolean | undefined;
}

/** Adds the routes of the API, and starts what follows from edits in the background: geofences follow their places. */
export async function addApi(
  app: FastifyInstance,
  node: NodeParts,
  unobserved: ApiGiven,
): Promise<Pick<Sweeper, 'done' | 'stop'>> {
  const { configuration, readModel, logger, values } = node;
  const metrics = createRecorder(apiMetrics, node.registry);
  const given = { ...unobserved, services: observedServices(unobserved.services, metrics) };
  const { writer, stores, services } = given;
  const observeCache = observeCaches(node.registry);
  const geocoding = createGeocoding(configuration, values, observeCache);
  app.addHook('onClose', async () => geocoding.geocoder?.close());
  const geometrySources = { geocoder: geocoding.geocoder, isochrones: services.roads?.isochrones };
  // Baking starts after the listener, so it does not delay the start.
  app.addHook('onListen', async () => services.maps.prepare());
  const { ipGeocoder } = geocoding;
  await app.register(apiRoutes, {
    ...resourceParts(app, node, given, metrics),
    geometrySources,
    ipGeocoder,
    observeCache,
  });
  const mail = configuration.mail.host === '' ? 'outbox' : 'sent';
  await app.register(dashboardRoutes({ folder: dashboardFolder, signUp: configuration.signup.enabled, mail }));
  await addJobs(app, node, given, { geometrySources, metrics });
  const follower = createPlaceFollower({
    readModel,
    writer,
    takeLease: stores.takeLease,
    leases: stores.leases,
    sources: geometrySources,
    onProblem: (problem) => logger.warn(problem, 'a geofence cannot follow its place'),
  });
  follower.start();
  return follower;
}

/** Returns what the routes of resources depend on, but for the providers of geometry. */
function resourceParts(
  app: FastifyInstance,
  { configuration, readModel, logger, sessions, registry, values, secretCipher }: NodeParts,
  { writer, spatial, analytics, erasesNothing, stores, services, admitWrite, nextOffsets, isOnlyNode }: ApiGiven,
  metrics: Recorder,
): Omit<ApiDependencies, 'geometrySources' | 'ipGeocoder' | 'observeCache'> {
  const { log, states, deliveries } = stores;
  const { maps, mailer, webhookClient } = services;
  const attemptOnce = createSingleAttempt({ log, client: webhookClient, secretCipher, clock: Date.now });
  return {
    configuration: readModel,
    writer,
    spatial,
    analytics: shareHistory(analytics),
    // The store of an only node is in this process.
    maxQueryMemoryMib: isOnlyNode ? queryMemoryMib(usableMemoryBytes()) : undefined,
    erasesNothing,
    log,
    values,
    webhooks: {
      secretCipher,
      allowedNetworks: configuration.webhooks.allowedNetworks,
      maxWebhooks: configuration.webhooks.maxPerEnvironment,
      waiting: deliveries.waiting,
      async attemptOnce(webhook, delivery) {
        admitWrite?.();
        return attemptOnce(webhook, delivery);
      },
    },
    maps: {
      ...maps,
      publicUrl: configuration.http.publicUrl,
      costPerKeyPerSecond: configuration.limits.mapCostPerKeyPerSecond,
      maxCacheBytes: configuration.maps.maxCacheBytes,
      maxStyles: configuration.maps.maxStylesPerEnvironment,
      maxMarkers: configuration.maps.maxMarkersPerEnvironment,
    },
    accounts: createNodeAccounts(app, configuration, { logger, sessions, values, mailer }),
    streams: {
      opened: (change) => metrics.add('event_streams_open', change),
      dropped: () => metrics.add('event_streams_dropped_total', 1),
      slow: (count) => addGauge(registry, { ...slowStreams, read: async () => count() }),
    },
    arePlansEnabled: configuration.plans.enabled === 'on',
    clock: Date.now,
    lag: atMostEvery(lagEveryMs, async () => lagAt(log, await nextOffsets(), Date.now())),
    states: (scope, deviceId) => storedState({ ...scope, deviceId }, { log, states }),
  };
}

/** Adds the routes of what goes on after its request: imports, the demo, replays and syncs; and those of exports. */
async function addJobs(
  app: FastifyInstance,
  { configuration, readModel, logger, values, heldLeases: leases, secretCipher }: NodeParts,
  { writer, stores, services, admitWrite, replaySource }: ApiGiven,
  { geometrySources, metrics }: Pick<ImportDependencies, 'geometrySources'> & { readonly metrics: Recorder },
): Promise<void> {
  const importing = { configuration: readModel, writer, geometrySources, clock: Date.now };
  const importer = await addImports(app, configuration, logger, {
    ...importing,
    values,
    leases,
    admitWrite,
    onEnded: (record) => countImport(record, metrics),
  });
  await app.register(
    demoRoutes({
      ...importing,
      log: stores.log,
      values,
      leases,
      admitWrite,
      isEnabled: configuration.demo.enabled === 'on',
      onProblem: (error) => logger.warn(error, 'the demo has ended with an error'),
    }),
  );
  const replays = createReplays({
    configuration: readModel,
    values,
    leases,
    clock: Date.now,
    bounds: defaultJobBounds,
    run: runInProcess(replayModule, replaySource),
  });
  await app.register(replayRoutes({ configuration: readModel, writer, secretCipher, clock: Date.now, replays }));
  await app.register(exportRoutes({ configuration: readModel, clock: Date.now }));
  await addSync(app, configuration, logger, {
    configuration: readModel,
    writer,
    values,
    leases,
    importer,
    mailer: services.mailer,
    cipher: secretCipher,
    admitWrite,
    onEnded: (run) => countSyncRun(run, metrics),
  });
}

type ImportParts = Pick<ImportDependencies, 'configuration' | 'geometrySources' | 'clock'> &
  Pick<ApiGiven, 'writer' | 'admitWrite'> &
  Pick<ImporterParts, 'values' | 'leases' | 'onEnded'>;

/** Adds the routes of imports, and starts their thread. */
async function addImports(
  app: FastifyInstance,
  configuration: Configuration,
  logger: Logger,
  { values, leases, admitWrite, onEnded, ...parts }: ImportParts,
): Promise<Importer> {
  const { maxFileBytes, maxRows, maxRunning } = configuration.imports;
  const bounds = { ...defaultImportBounds, maxRows, maxRunning };
  const thread = createImportThread(
    {
      readModelFolder: readModelFolder(configuration),
      writer: parts.writer,
      resolve: geometryResolver(parts),
      onFailure: (error) => logger.error(error, 'the import thread has ended'),
    },
    bounds,
  );
  const importer = createImporter({ ...parts, values, leases, bounds, thread, onEnded });
  await app.register(importRoutes, {
    ...parts,
    arePlansEnabled: configuration.plans.enabled === 'on',
    importer,
    folder: join(configuration.data, 'imports'),
    maxFileBytes,
    uploadBounds: { maxUploads: maxRunning * uploadsPerRunningImport },
    ...(admitWrite && { admitWrite }),
  });
  return importer;
}
