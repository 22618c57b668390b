/**
 * A whole Fenceline in one process, on the embedded backends.
 *
 * Four threads: this one takes requests, acknowledges locations and applies configuration; one evaluates; one stores analytics; one sends to webhooks.
 * They share the data folder (each opens it for itself) and talk by message. Any of them failing ends the process: it restarts from
 * what is committed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { apiRoutes } from '../../api/routes.js';
import { createInbox } from '../../backends/embedded/replies.js';
import { createKeyRing } from '../../http/keys.js';
import { createHttpServer } from '../../http/server.js';
import { storedState } from '../../ingest/last-known.js';
import { ingestMetrics } from '../../ingest/metrics.js';
import { defaultIngestBounds } from '../../ingest/parts.js';
import { startRejectionCounter } from '../../ingest/rejections.js';
import { ingestRoutes } from '../../ingest/routes.js';
import { createConfigurationWriter, followChanges } from '../../pipeline/catalog/changes.js';
import { createExpirySweeper } from '../../pipeline/catalog/expiry.js';
import type { ConfigurationReader, ConfigurationWriter } from '../../pipeline/catalog/types.js';
import { topics } from '../../pipeline/ports.js';
import { createSealer } from '../../pipeline/sealing.js';
import { createTryOnce } from '../../pipeline/stages/webhooks/try-once.js';
import type { Configuration } from '../config/schema.js';
import { version } from '../version.js';
import { administratorKey } from './administrator-key.js';
import type { AnalyticsCalls } from './analytics-worker.js';
import { backlogRecords, createPacing, newAppliedOffsets } from './backlog.js';
import { closeHttp, countRequests } from './close-http.js';
import { lockFolder } from './folder-lock.js';
import { openBackend, openNodeView } from './folders.js';
import { createMaps } from './maps.js';
import { addGauge, createProcessRegistry, createRecorder, createRequestObserver, exposition } from './metrics.js';
import { operationsRoutes } from './operations.js';
import { startSweeps } from './retention.js';
import { sealingKey } from './sealing-key.js';
import type { StageCalls } from './stage-worker.js';
import { createWebhookClient } from './webhooks.js';
import { startWorker, type WorkerCalls } from './worker-host.js';

export interface EmbeddedNode {
  readonly app: FastifyInstance;
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  /** Rejects when a part fails; the process must end then. */
  readonly failed: Promise<never>;
  /** Answers what was asked, finishes what is in flight, and closes everything. */
  stop(): Promise<void>;
}

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function startEmbeddedNode(configuration: Configuration, logger: Logger): Promise<EmbeddedNode> {
  mkdirSync(configuration.data, { recursive: true });
  await lockFolder(configuration.data);
  const backend = openBackend(configuration);
  const view = openNodeView(configuration);
  const { log, stateStore } = backend;
  const changes = followChanges({ log, view, onProblem: (problem) => logger.error(problem, 'change skipped') });
  const writer = createConfigurationWriter({ log, view });
  await view.waitFor((await log.bounds(topics.changes, 0)).end);

  const sealer = createSealer(sealingKey(configuration.data));
  const webhookClient = createWebhookClient(configuration);
  const maps = createMaps(configuration, (reason) => logger.error({ reason }, 'maps'));
  // After the view has caught up: the stage loads its fences from it.
  const applied = newAppliedOffsets(log.partitions(topics.locations));
  const stage = startWorker<StageCalls>('./stage-worker.js', configuration, applied);
  const analytics = startWorker<AnalyticsCalls>('./analytics-worker.js', configuration, applied);
  const webhooks = startWorker<WorkerCalls>('./webhooks-worker.js', configuration, applied);
  const workers = [stage, analytics, webhooks];
  const failedWorker = Promise.race(workers.map(({ failed }) => failed));
  await Promise.race([failedWorker, Promise.all(workers.map(({ calls }) => calls.ready()))]);

  const expiry = createExpirySweeper({ view, writer, clock: Date.now, intervalMs: configuration.expiry.intervalMs });
  expiry.start();
  const sweeps = startSweeps(log);
  const rejections = startRejectionCounter(log, Date.now);
  const registry = createProcessRegistry();
  addGauge(registry, {
    name: 'location_backlog_records',
    help: 'Accepted locations that wait to be evaluated.',
    read: () => backlogRecords(log, applied),
  });
  const app = createHttpServer({
    logger,
    keyRing: createKeyRing(view),
    administratorKeySha256: sha256Hex(administratorKey(configuration.data, process.env.FENCELINE_ADMINISTRATOR_KEY)),
    rateLimits: configuration.limits,
    openApi: { title: 'Fenceline', version, description: 'Geofence and beacon events, decided exactly and once.' },
    trustProxy: configuration.http.trustedProxies.length > 0 ? [...configuration.http.trustedProxies] : false,
    bodyLimitBytes: configuration.http.maxBodyBytes,
    observe: createRequestObserver(registry),
  });
  const requestsInHand = countRequests(app);
  await app.register(operationsRoutes, {
    ready: () => Promise.all(workers.map(({ calls }) => calls.ready())),
    exposition: async () => exposition(registry, (await Promise.all(workers.map(({ calls }) => calls.metrics()))) as object[][]),
  });
  await app.register(ingestRoutes, {
    log,
    configuration: view,
    spatial: stage.calls,
    inbox: createInbox(stage.replies),
    states: stateStore,
    clock: Date.now,
    bounds: {
      ...defaultIngestBounds,
      replyTimeoutMs: configuration.ingest.replyTimeoutMs,
      maxInFlightRecords: configuration.ingest.maxInFlightRecords,
      maxReplayBodyBytes: configuration.http.maxReplayBodyBytes,
    },
    paceBulk: createPacing(log, applied, configuration.ingest.maxBacklogRecords),
    metrics: createRecorder(ingestMetrics, registry),
    rejections,
  });
  await app.register(apiRoutes, {
    configuration: view,
    writer,
    spatial: stage.calls,
    analytics: analytics.calls,
    log,
    webhooks: {
      sealer,
      allowedNetworks: configuration.webhooks.allowedNetworks,
      maxWebhooks: configuration.webhooks.maxPerEnvironment,
      tryOnce: createTryOnce({ log, client: webhookClient, sealer, clock: Date.now }),
    },
    maps: {
      ...maps,
      maxCacheBytes: configuration.maps.maxCacheBytes,
      maxStyles: configuration.maps.maxStylesPerEnvironment,
      maxMarkers: configuration.maps.maxMarkersPerEnvironment,
    },
    clock: Date.now,
    states: (scope, deviceId) => storedState({ ...scope, deviceId }, { log, states: stateStore }),
  });

  return {
    app,
    configuration: view,
    writer,
    failed: Promise.race([
      failedWorker,
      failure(changes.done),
      failure(expiry.done),
      failure(sweeps.done),
      failure(rejections.done),
    ]),
    async stop() {
      // Order matters: requests first, for they wait for the stage; then who writes, then who reads what was written.
      await closeHttp(app, requestsInHand);
      await maps.close();
      await rejections.close();
      await sweeps.stop();
      await expiry.stop();
      await webhookClient.close();
      await stage.stop();
      await webhooks.stop();
      await analytics.stop();
      await changes.close();
      await view.close();
      await backend.close();
    },
  };
}

/** A promise that only ever rejects, with the given one. */
const failure = (promise: Promise<void>): Promise<never> => promise.then(() => new Promise<never>(() => {}));
