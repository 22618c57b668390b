/** Wires the parts of each cluster role. */
import type { FastifyInstance } from 'fastify';
import type { ClusterBackend, ClusterOptions } from '../backends/cluster/cluster.js';
import type { ClickHouseOptions } from '../backends/cluster/options.js';
import { startRejectionCounter } from '../ingest/rejections.js';
import type { Mailer } from '../outbound/mail/mail.js';
import type { MonitoredCatalog } from '../pipeline/catalog/index/catalog.js';
import { createCatchUp, createConfigurationWriter } from '../pipeline/catalog/store/configuration-writer.js';
import type { EncodedWriter, SpatialQueries } from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { type Analytics, topics } from '../pipeline/ports.js';
import { retried } from '../pipeline/retrying.js';
import { createSweeperLeases } from '../pipeline/sweeper.js';
import type { RoadProvider } from '../providers/roads/provider.js';
import { addBacklogMetrics, atMostEvery, progressAt } from './backlog.js';
import type { ClusterHistory } from './cluster-history.js';
import type { Role } from './config/schema.js';
import { addApi, addIngest, type NodeParts } from './http.js';
import { createMaps, loggedTo } from './maps.js';
import { observeCaches, type Recorder } from './metrics.js';
import { closing, type Part, rejectionOf } from './node.js';
import { createPacing } from './pacing.js';
import { startAnalyticsSink } from './stages/analytics.js';
import { startEraser } from './stages/erasure.js';
import { startLocationStage } from './stages/locations.js';
import { startSweepers } from './stages/sweepers.js';
import { startWebhookStage } from './stages/webhooks.js';
import { createWebhookClient } from './webhook-client.js';

/** What the roles of a process share. A role closes only what it has opened itself. */
export interface RoleParts extends NodeParts {
  /** Shared by all stages of the process. */
  readonly stageMetrics: Recorder;
  readonly backend: ClusterBackend;
  /** Each role has its own connections. */
  readonly openHistory: (role: Role) => Promise<ClusterHistory>;
  readonly clickHouse: ClickHouseOptions;
  /** With which replays connect. */
  readonly clusterOptions: Omit<ClusterOptions, 'onProblem'>;
  readonly writer: EncodedWriter;
  readonly catalog: MonitoredCatalog;
  /** For requests, shared among projects. */
  readonly spatial: SpatialQueries;
  /** For the location stage. */
  readonly searchGeofences: SpatialQueries['searchGeofences'];
  readonly mailer: Mailer;
  readonly roads: RoadProvider | undefined;
  readonly app: FastifyInstance;
}

/** How often a node reads the progress of evaluation from Redis during uploads. */
const progressEveryMs = 50;

/** Starts the parts of a role, which the caller stops. */
export const startRole = (role: Role, parts: RoleParts): Promise<Part> => roles[role](parts);

const roles: Readonly<Record<Role, (parts: RoleParts) => Promise<Part>>> = {
  async ingest(parts) {
    const { configuration, registry, backend, spatial, roads, app } = parts;
    const { requestLog, requestStates } = backend;
    const rejections = startRejectionCounter(requestLog, Date.now);
    const partitions = requestLog.partitions(topics.locations);
    const nextOffsets = () => requestStates.nextOffsets(partitions);
    const progress = atMostEvery(progressEveryMs, async () => progressAt(requestLog, await nextOffsets()));
    /** Waits for Redis as evaluation does: Kafka goes on taking uploads. */
    const patientProgress = atMostEvery(progressEveryMs, async () =>
      progressAt(requestLog, await retried(nextOffsets, { isFinal: (error) => !isPortError(error, 'unavailable') })),
    );
    addBacklogMetrics(registry, progress);
    await addIngest(app, parts, {
      log: requestLog,
      spatial,
      inbox: await backend.openInbox(),
      states: requestStates,
      paceBulk: createPacing(patientProgress, configuration.ingest.maxBacklogRecords),
      rejections,
      roads,
    });
    return closing(rejections);
  },

  async pipeline({
    configuration,
    logger,
    registry,
    stageMetrics,
    backend,
    readModel,
    heldLeases,
    catalog,
    searchGeofences,
    tracing,
  }) {
    const { log, stateStore, replies } = backend;
    const catchUp = createCatchUp({ log, readModel });
    const observeCache = observeCaches(registry);
    const parts = { log, states: stateStore, catalog, catchUp, replies, searchGeofences, observeCache, tracing };
    const stage = startLocationStage(parts, { configuration, logger, metrics: stageMetrics });
    const writer = createConfigurationWriter({ log, readModel });
    const sweepers = startSweepers({ readModel, writer, takeLease: createSweeperLeases(heldLeases) }, configuration);
    return {
      done: Promise.race([stage.done, sweepers.done]),
      async stop() {
        await sweepers.stop();
        await stage.close();
      },
    };
  },

  async api(parts) {
    const { configuration, logger, backend, heldLeases, writer, spatial, mailer, roads, app } = parts;
    const history = await parts.openHistory('api');
    const maps = createMaps(configuration, loggedTo(logger));
    const webhookClient = createWebhookClient(configuration);
    const { requestLog: log, requestStates: states, requestDeliveries: deliveries, leases } = backend;
    const follower = await addApi(app, parts, {
      writer,
      spatial,
      analytics: history.reading,
      stores: { log, states, deliveries, leases, takeLease: createSweeperLeases(heldLeases) },
      services: { maps, roads, mailer, webhookClient },
      nextOffsets: () => states.nextOffsets(log.partitions(topics.locations)),
      replaySource: { kind: 'cluster', options: parts.clusterOptions },
    });
    return {
      done: Promise.race([follower.done, rejectionOf(history.done)]),
      async stop() {
        await follower.stop();
        await maps.close();
        await webhookClient.close();
        await history.close();
      },
    };
  },

  async webhooks({ configuration, logger, registry, stageMetrics, backend, readModel, secretCipher, tracing }) {
    const catchUp = createCatchUp({ log: backend.log, readModel });
    return startWebhookStage({
      configuration,
      logger,
      registry,
      metrics: stageMetrics,
      backend,
      readModel,
      catchUp,
      secretCipher,
      tracing,
    });
  },

  async analytics(parts) {
    const history = await parts.openHistory('analytics');
    const storing = history.whenReady((analytics) => startStoring(analytics, parts));
    return {
      done: storing.done,
      async stop() {
        await storing.stop();
        await history.close();
      },
    };
  },
};

/** Starts what writes to ClickHouse, whose tables are ready. */
function startStoring(
  analytics: Analytics,
  { configuration, logger, stageMetrics, backend, heldLeases, clickHouse, readModel, secretCipher }: RoleParts,
): Part {
  const { log, positions, stateStore: states, deliveryQueue: deliveries } = backend;
  const sink = startAnalyticsSink({ log, positions, analytics }, { configuration, logger, metrics: stageMetrics });
  const writer = createConfigurationWriter({ log, readModel });
  const eraser = startEraser(
    {
      readModel,
      writer,
      takeLease: createSweeperLeases(heldLeases),
      clock: backend.clock,
      log,
      states,
      positions,
      deliveries,
      analytics,
      secretCipher,
      cluster: clickHouse.cluster,
    },
    { configuration, logger },
  );
  return {
    done: Promise.race([sink.done, eraser.done]),
    async stop() {
      await eraser.stop();
      await sink.close();
    },
  };
}
