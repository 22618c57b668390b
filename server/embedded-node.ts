/**
 * Starts a complete Fenceline in one process, on the embedded backends.
 *
 * It has four threads. This one serves requests, acknowledges locations and applies configuration. The others evaluate
 * locations, store analytics, and deliver to webhooks. They share the data folder, which each opens separately, and
 * exchange messages. If any of them fails, the process ends and restarts from what is committed.
 */
// This thread loads chDB for the analytics thread.
import '../backends/embedded/chdb-stays-loaded.js';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isChdbInstalled } from '../backends/embedded/chdb-package.js';
import { watched } from '../backends/embedded/environment.js';
import type { FolderLock } from '../backends/embedded/folder-lock.js';
import { embeddedLeases } from '../backends/embedded/leases.js';
import { createInbox } from '../backends/embedded/replies.js';
import { createSpace, newSharedSpace, refuseWhenFull } from '../backends/embedded/space.js';
import { startRejectionCounter } from '../ingest/rejections.js';
import { type ChangeProblem, followComparedChanges } from '../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../pipeline/catalog/store/configuration-writer.js';
import { createSecretCipher } from '../pipeline/encryption.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { type Log, topics } from '../pipeline/ports.js';
import { leasesOfOnlyNode } from '../pipeline/sweeper.js';
import { createNodeSessions, createSignInLinks } from './accounts.js';
import { addBacklogMetrics, newAppliedOffsets, offsetsOf, sharedProgress } from './backlog.js';
import { backupRoutes } from './backup/routes.js';
import { closeHttp } from './close-http.js';
import type { Configuration } from './config/schema.js';
import { refuseContradictions } from './contradictions.js';
import { refuseDamagedFiles } from './data-folder/damaged-files.js';
import { prepareDataFolder } from './data-folder/data-folder.js';
import { watchFolder } from './data-folder/folder-watch.js';
import { discardOtherFormat, openBackend, openNodeReadModel } from './data-folder/folders.js';
import { lockFolder, serveCommands } from './data-folder/lock.js';
import { migrateDataFolder } from './data-folder/migrate.js';
import { startSweeps } from './data-folder/retention.js';
import { watchSpace } from './data-folder/space-watch.js';
import { refuseUnfinishedRestore } from './data-folder/unfinished-restore.js';
import { refuseSmallDisk, refuseUnusableFiles } from './data-folder/unusable.js';
import { createDemand } from './demand.js';
import { type ApiServices, addApi, addIngest, createNodeServer, type NodeParts } from './http.js';
import { adminApiKey } from './keys/admin-api-key.js';
import { encryptionKey } from './keys/encryption-key.js';
import { reportUnreadableSecrets } from './keys/unreadable-secrets.js';
import { createConfiguredMailer } from './mail.js';
import { createMaps, loggedTo } from './maps.js';
import { missingMemory, usableMemoryBytes } from './memory.js';
import { createProcessRegistry, exposition } from './metrics.js';
import { missingAnalytics, notInstalled } from './missing-analytics.js';
import { reportUnusableFiles } from './named-files.js';
import { closing, failureOf, type Node, type Part, rejectionOf, stopInOrder } from './node.js';
import { addOperations } from './operations.js';
import { createPacing } from './pacing.js';
import { repairOf } from './repair-positions.js';
import { createRoads } from './roads.js';
import { shareSpatialQueries } from './shares.js';
import { startEraser } from './stages/erasure.js';
import { startSweepers } from './stages/sweepers.js';
import type { AnalyticsCalls } from './threads/analytics-worker.js';
import type { StageCalls } from './threads/stage-worker.js';
import { startWorker, type WorkerCalls, type WorkerData } from './threads/worker-host.js';
import { startTracing } from './tracing/tracing.js';
import { createWebhookClient } from './webhook-client.js';

/** Claims the data folder for this process, and brings it up to date. Returns its lock and its encryption key. */
async function claimDataFolder(configuration: Configuration, logger: Logger) {
  prepareDataFolder(configuration.data, logger);
  const folderLock = await lockFolder(configuration.data);
  refuseUnusableFiles(configuration.data);
  await refuseSmallDisk(configuration);
  refuseUnfinishedRestore(configuration.data);
  migrateDataFolder(configuration.data, logger);
  refuseDamagedFiles(configuration.data);
  // Before the log exists: a folder with a log never gets another key.
  return { folderLock, secretKey: encryptionKey(configuration.data) };
}

/** Opens the data folder in this thread, and applies all changes that its log has to the read model. */
async function openStores({
  configuration,
  logger,
  registry,
  demand,
  folderLock,
}: Pick<NodeParts, 'configuration' | 'logger' | 'registry' | 'demand'> & { readonly folderLock: FolderLock }) {
  const sharedSpace = newSharedSpace();
  const space = createSpace(sharedSpace);
  const spaceWatch = await watchSpace({ configuration, space, logger, registry });
  const backend = openBackend(configuration, space, 'refuse');
  discardOtherFormat(configuration);
  const readModel = openNodeReadModel(configuration, space);
  const environments = { ...backend.environments, 'read-model': watched(readModel.file) };
  const commands = serveCommands(folderLock, {
    data: configuration.data,
    environments,
    logger,
    calls: repairOf(backend),
  });
  const folderWatch = await watchFolder({ data: configuration.data, environments, space, logger });
  const log: Log = {
    ...backend.log,
    async append(topic, records) {
      refuseWhenFull(space);
      await backend.log.append(topic, records);
    },
  };
  const onProblem = (problem: ChangeProblem) => logger.error(problem, 'skipped a change');
  const changes = await followComparedChanges(
    { log, readModel, onProblem, isServing: demand.isServing },
    { beyondEndMs: 0 },
  );
  const writer = createConfigurationWriter({ log, readModel });
  await Promise.race([rejectionOf(changes.done), readModel.waitFor(await log.end(topics.changes, 0))]);
  return { sharedSpace, space, spaceWatch, folderWatch, commands, backend, log, readModel, changes, writer };
}

type Stores = Awaited<ReturnType<typeof openStores>>;

/** Starts the other threads, and waits until they are ready. */
async function startThreads(
  { configuration, logger }: Pick<NodeParts, 'configuration' | 'logger'>,
  { space, sharedSpace, log }: Pick<Stores, 'space' | 'sharedSpace' | 'log'>,
) {
  const applied = newAppliedOffsets(log.partitions(topics.locations));
  const given: WorkerData = { configuration, applied, space: sharedSpace };
  const stage = startWorker<StageCalls>('./stage-worker.js', given);
  const analytics = isChdbInstalled ? startWorker<AnalyticsCalls>('./analytics-worker.js', given) : undefined;
  if (analytics === undefined) logger.warn({ reason: notInstalled }, 'analytics are missing');
  const webhooks = startWorker<WorkerCalls>('./webhooks-worker.js', given);
  const workers = [stage, webhooks, ...(analytics === undefined ? [] : [analytics])];
  await Promise.race([failureOf(workers, space), Promise.all(workers.map(({ calls }) => calls.ready()))]);
  return {
    stage,
    workers,
    applied,
    progress: sharedProgress(log, applied),
    history: analytics?.calls ?? missingAnalytics,
    erasesNothing: analytics === undefined ? notInstalled : undefined,
  };
}

type Threads = Awaited<ReturnType<typeof startThreads>>;

/** Starts erasures, and the removal of what has expired. Returns them in the order of stopping. */
function startJobs(
  { backend, readModel, writer }: Stores,
  { history }: Threads,
  { configuration, logger, secretCipher }: Pick<NodeParts, 'configuration' | 'logger' | 'secretCipher'>,
): readonly Part[] {
  const sweepers = startSweepers({ readModel, writer, takeLease: leasesOfOnlyNode }, configuration);
  const { log, stateStore: states, positions, deliveryQueue: deliveries } = backend;
  const eraser = startEraser(
    {
      readModel,
      writer,
      takeLease: leasesOfOnlyNode,
      clock: Date.now,
      log,
      states,
      positions,
      deliveries,
      analytics: history,
      secretCipher,
    },
    { configuration, logger },
  );
  return [eraser, startSweeps(backend), sweepers];
}

/** What requests use besides stores and threads. */
interface Services extends ApiServices {
  readonly rejections: ReturnType<typeof startRejectionCounter>;
  readonly encryptionKey: Buffer;
}

/** Adds all routes, and starts what follows from edits. */
async function addRoutes(
  app: FastifyInstance,
  node: NodeParts,
  { space, backend, log, writer }: Stores,
  { stage, workers, applied, progress, history, erasesNothing }: Threads,
  { rejections, encryptionKey, ...services }: Services,
) {
  const { configuration, registry } = node;
  const operations = await addOperations(app, {
    ready: () => Promise.all(workers.map(({ calls }) => calls.ready())),
    exposition: async () =>
      exposition(registry, (await Promise.all(workers.map(({ calls }) => calls.metrics()))) as object[][]),
  });
  await app.register(backupRoutes({ analytics: history, encryptionKey }));
  const spatial = shareSpatialQueries(stage.calls);
  const { stateStore: states, deliveryQueue: deliveries } = backend;
  await addIngest(app, node, {
    log,
    spatial,
    inbox: createInbox(stage.replies),
    states,
    paceBulk: createPacing(async () => {
      // While the disk is full, evaluation stands still, and a paced upload would wait for it.
      refuseWhenFull(space);
      return progress();
    }, configuration.ingest.maxBacklogRecords),
    rejections,
    roads: services.roads,
  });
  const follower = await addApi(app, node, {
    writer,
    spatial,
    analytics: history,
    erasesNothing,
    stores: { log, states, deliveries, leases: embeddedLeases, takeLease: leasesOfOnlyNode },
    services,
    admitWrite: () => refuseWhenFull(space),
    nextOffsets: async () => offsetsOf(applied),
    replaySource: { kind: 'folder', path: configuration.data },
    isOnlyNode: true,
  });
  return { operations, follower };
}

/** Resolves when the node runs. The caller stops it. Rejects when the configuration or the data folder is unusable. */
export async function startEmbeddedNode(configuration: Configuration, logger: Logger): Promise<Node> {
  refuseContradictions(configuration);
  reportUnusableFiles(configuration, logger);
  const tooLittle = missingMemory(usableMemoryBytes());
  if (tooLittle !== undefined) logger.warn(tooLittle);
  const mailer = createConfiguredMailer(configuration);
  const roads = createRoads(configuration, (reason) => logger.error({ reason }, 'roads'));
  const { folderLock, secretKey } = await claimDataFolder(configuration, logger);
  const registry = createProcessRegistry();
  const tracing = await startTracing(configuration, 'main', logger);
  const demand = createDemand();
  const stores = await openStores({ configuration, logger, registry, demand, folderLock });
  const { space, backend, log, readModel, writer } = stores;
  const webhookClient = createWebhookClient(configuration);
  const maps = createMaps(configuration, loggedTo(logger));
  const node: NodeParts = {
    configuration,
    logger,
    readModel,
    registry,
    adminApiKey: adminApiKey(configuration.data, process.env.FENCELINE_ADMIN_API_KEY),
    secretCipher: createSecretCipher(secretKey),
    values: backend.values,
    heldLeases: createHeldLeases(backend.values, { isOnlyNode: true }),
    answers: backend.answers,
    sessions: createNodeSessions(configuration, { configuration: readModel, values: backend.values }),
    tracing,
    demand,
  };

  reportUnreadableSecrets(node);
  // Started after the read model has caught up, because the location stage loads its fences from it.
  const threads = await startThreads(node, stores);
  const jobs = startJobs(stores, threads, node);
  const rejections = startRejectionCounter(log, Date.now);
  addBacklogMetrics(registry, threads.progress);

  const app = createNodeServer(node);
  const services = { maps, roads, mailer, webhookClient, rejections, encryptionKey: secretKey };
  const { operations, follower } = await addRoutes(app, node, stores, threads, services);

  // In the order of stopping: requests first, because they wait for the location stage; then writers, then readers of
  // what they wrote. While the disk is full, what stores would wait for space.
  const serving: readonly Part[] = [
    { stop: () => closeHttp(app, configuration, logger) },
    ...[closing(mailer), closing(maps), follower, closing(roads), closing(rejections)],
    { stop: async () => stores.spaceWatch.stop() },
    stores.folderWatch,
    stores.commands,
  ];
  const storing: readonly Part[] = [
    ...[...jobs, closing(webhookClient), ...threads.workers],
    ...[stores.changes, readModel, backend, tracing].map(closing),
  ];
  return {
    app,
    configuration: readModel,
    writer,
    claimFirstProject: async () => true,
    markStarted: operations.markStarted,
    createSignInLink: createSignInLinks(app, configuration, backend.values),
    failed: failureOf([...serving, ...storing], space),
    async stop() {
      await stopInOrder(serving);
      if (space.level === 'out') {
        logger.warn('stopping while the disk is full: accepted locations are evaluated after the next start');
        await space.endWrites();
        return;
      }
      await stopInOrder(storing);
    },
  };
}
