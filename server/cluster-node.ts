/**
 * Starts one process of a cluster, with its roles. Any number of processes may have the same role.
 *
 * Each process has its own read model of the configuration, in a folder that can be rebuilt. All other data is in
 * Kafka, Redis and ClickHouse. If any part fails, the process ends, and another one continues from what is committed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createClickHouse } from '../backends/cluster/clickhouse/analytics.js';
import type { ClientObserver } from '../backends/cluster/client-observer.js';
import { type ClusterBackend, openCluster } from '../backends/cluster/cluster.js';
import type { ClickHouseOptions } from '../backends/cluster/options.js';
import type { Patience } from '../backends/cluster/patience.js';
import { watched } from '../backends/embedded/environment.js';
import type { FolderLock } from '../backends/embedded/folder-lock.js';
import { createSpace, refuseWhenFull, refuseWhenOut, type Space } from '../backends/embedded/space.js';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import { followInBackground } from '../pipeline/catalog/index/follow.js';
import { createSpatialQueries } from '../pipeline/catalog/queries/queries.js';
import { followComparedChanges } from '../pipeline/catalog/store/changes.js';
import { createCatchUp, createConfigurationWriter } from '../pipeline/catalog/store/configuration-writer.js';
import type { ReadModel } from '../pipeline/catalog/store/read-model.js';
import { createSecretCipher } from '../pipeline/encryption.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { type Log, topics } from '../pipeline/ports.js';
import { stageMetrics } from '../pipeline/stages/metrics.js';
import { createNodeSessions, createSignInLinks } from './accounts.js';
import { closeHttp } from './close-http.js';
import { type ClusterHistory, openHistory } from './cluster-history.js';
import { clusterOptionsOrRefuse } from './cluster-options.js';
import { type RoleParts, startRole } from './cluster-roles.js';
import type { Configuration, Role } from './config/schema.js';
import { refuseContradictions } from './contradictions.js';
import { prepareReadModel } from './data-folder/cluster-read-model.js';
import { prepareDataFolder } from './data-folder/data-folder.js';
import { watchFolder } from './data-folder/folder-watch.js';
import { openNodeReadModel } from './data-folder/folders.js';
import { lockFolder, serveCommands } from './data-folder/lock.js';
import { migrateDataFolder } from './data-folder/migrate.js';
import { watchSpace } from './data-folder/space-watch.js';
import { refuseUnusableFiles } from './data-folder/unusable.js';
import { createDemand } from './demand.js';
import { ConfigurationError } from './failures.js';
import { createNodeServer, type NodeParts } from './http.js';
import { encryptionKeyOf } from './keys/encryption-key.js';
import { reportUnreadableSecrets } from './keys/unreadable-secrets.js';
import { createConfiguredMailer } from './mail.js';
import {
  clusterMetrics,
  createProcessRegistry,
  createRecorder,
  createServiceObservers,
  exposition,
} from './metrics.js';
import { reportUnusableFiles } from './named-files.js';
import { closing, failureOf, type Node, type Part, rejectionOf, stopInOrder } from './node.js';
import { addOperations } from './operations.js';
import { createRoads } from './roads.js';
import { shareSpatialQueries } from './shares.js';
import { startTracing } from './tracing/tracing.js';

/** How long the other nodes leave creating the first project to the node that holds the lease. */
const firstProjectLeaseMs = 60_000;

/**
 * Time limit of an edit for catching up with topic `changes` before it, and for applying its own change after it.
 */
const editLimitMs = 10_000;
/** Time limit for catching up when a request has an unknown key, which may have just been created. */
const unknownKeyLimitMs = 2_000;

/**
 * Time limit for a failed node to release its partitions. Released partitions are taken over at once, others only after
 * the session timeout.
 */
const releaseTimeoutMs = 5_000;

/** The order of stopping: first the roles that accept requests, then those that write, then those that read. */
const stopOrder: readonly Role[] = ['ingest', 'api', 'pipeline', 'webhooks', 'analytics'];
/** The roles that share partitions with other nodes. */
const consumingRoles: readonly Role[] = ['pipeline', 'webhooks', 'analytics'];

/** Claims the data folder for this process, and brings it up to date. */
async function claimDataFolder(configuration: Configuration, logger: Logger): Promise<FolderLock> {
  prepareDataFolder(configuration.data, logger);
  const folderLock = await lockFolder(configuration.data);
  refuseUnusableFiles(configuration.data);
  migrateDataFolder(configuration.data, logger);
  return folderLock;
}

/** Returns the callbacks that report problems of services, to the log and to the metrics. */
function createReports(logger: Logger, registry: Registry) {
  const metrics = createRecorder(clusterMetrics, registry);
  return {
    onProblem(problem: string): void {
      logger.warn({ problem }, 'cluster');
      metrics.add('dependency_errors_total', 1);
    },
    onRefusal: (service: string): void => metrics.add('dependency_refusals_total', 1, service),
  };
}

/**
 * Opens the node's own read model and applies all changes that the log has. `requestLog` refuses changes while the disk
 * is full: Kafka would accept them, but the caller would wait for the read model.
 */
async function openConfiguration(
  { configuration, logger, demand }: Pick<NodeParts, 'configuration' | 'logger' | 'demand'>,
  backend: ClusterBackend,
  space: Space,
  folderLock: FolderLock,
) {
  const { log } = backend;
  const requestLog: Log = {
    ...backend.requestLog,
    async append(topic, records) {
      if (topic === topics.changes) refuseWhenFull(space);
      await backend.requestLog.append(topic, records);
    },
  };
  prepareReadModel(configuration, { changesId: backend.changesId, nowMs: Date.now() }, logger);
  const readModel = openNodeReadModel(configuration, space);
  const environments = { 'read-model': watched(readModel.file) };
  const commands = serveCommands(folderLock, { data: configuration.data, environments, logger, calls: {} });
  const folderWatch = await watchFolder({ data: configuration.data, environments, space, logger });
  const changes = await followComparedChanges({
    log,
    readModel,
    onProblem: (problem) => logger.error(problem, 'skipped a change'),
    isServing: demand.isServing,
  });
  const writer = createConfigurationWriter({ log: requestLog, readModel, limitMs: editLimitMs });
  await Promise.race([rejectionOf(changes.done), readModel.waitFor(await log.end(topics.changes, 0))]);
  const catchUp = createCatchUp({ log: requestLog, readModel, limitMs: unknownKeyLimitMs });
  return { readModel, folderWatch, commands, changes, writer, catchUp };
}

/** Opens ClickHouse for each role that asks, and knows whether a role still waits for it. */
function createHistories(
  clickHouse: ClickHouseOptions,
  parts: {
    readonly observer: ClientObserver;
    readonly patience: Patience;
    readonly logger: Logger;
    readonly onProblem: (problem: string) => void;
  },
) {
  const { observer, patience, logger, onProblem } = parts;
  const opened: ClusterHistory[] = [];
  return {
    async open(role: Role): Promise<ClusterHistory> {
      const history = await openHistory({
        analytics: createClickHouse(clickHouse, { observer, patience, onProblem }),
        clickHouse,
        onAway: (problem) => onProblem(`${problem}; role ${role} goes on without history`),
        onReady: () => logger.info({ role }, 'ClickHouse is back'),
      });
      opened.push(history);
      return history;
    },
    /** Returns the services that a role waits for. */
    waitsFor: (): readonly string[] => (opened.every(({ isReady }) => isReady) ? [] : ['clickhouse']),
  };
}

/** Opens what the roles share: the services, and the node's own read model. */
async function openStores(
  { configuration, logger, registry, demand }: Pick<NodeParts, 'configuration' | 'logger' | 'registry' | 'demand'>,
  options: ReturnType<typeof clusterOptionsOrRefuse>,
  folderLock: FolderLock,
  ending: AbortSignal,
) {
  const reports = createReports(logger, registry);
  const space = createSpace();
  const spaceWatch = await watchSpace({ configuration, space, logger, registry });
  const observers = createServiceObservers(registry);
  const backend = await openCluster({ ...options, ...reports, ending, observers });
  const opened = await openConfiguration({ configuration, logger, demand }, backend, space, folderLock);
  const histories = createHistories(options.clickHouse, {
    observer: observers.clickhouse,
    patience: backend.patience,
    logger,
    onProblem: reports.onProblem,
  });
  return { ...opened, space, spaceWatch, backend, histories };
}

/** Loads the fences and beacons of the read model, which must have caught up, and keeps them close to it. */
function openCatalog(readModel: ReadModel) {
  const catalog = createCatalog(readModel);
  return {
    catalog,
    following: followInBackground(catalog),
    spatial: createSpatialQueries(catalog, Date.now),
  };
}

/** Starts the roles of the node, one after another. */
async function startRoles(roles: readonly Role[], parts: RoleParts): Promise<ReadonlyMap<Role, Part>> {
  const running = new Map<Role, Part>();
  for (const role of roles) running.set(role, await startRole(role, parts));
  return running;
}

/** Stops the roles that have partitions, so that other nodes take these over at once. */
async function releasePartitions(running: ReadonlyMap<Role, Part>): Promise<void> {
  const stopped = Promise.allSettled(consumingRoles.map((role) => running.get(role)?.stop()));
  await Promise.race([stopped, delay(releaseTimeoutMs)]);
}

/**
 * Resolves when the roles run. The caller stops the node. Rejects when the configuration is contradictory, a service
 * cannot be reached, or the signal aborts while the start waits for one that it needs for as long as that takes.
 */
export async function startClusterNode(
  configuration: Configuration,
  logger: Logger,
  ending: AbortSignal,
): Promise<Node> {
  refuseContradictions(configuration);
  reportUnusableFiles(configuration, logger);
  const options = clusterOptionsOrRefuse(configuration);
  const { adminApiKey, encryptionKey } = sharedSecrets(process.env);
  const mailer = createConfiguredMailer(configuration);
  const roads = createRoads(configuration, (reason) => logger.error({ reason }, 'roads'));
  const folderLock = await claimDataFolder(configuration, logger);

  const registry = createProcessRegistry();
  const tracing = await startTracing(configuration, configuration.roles.join(), logger);
  const demand = createDemand();
  const stores = await openStores({ configuration, logger, registry, demand }, options, folderLock, ending);
  const { space, backend, histories, readModel, changes, writer, catchUp } = stores;
  const { values } = backend;
  const { catalog, following, spatial } = openCatalog(readModel);
  const node: NodeParts = {
    configuration,
    logger,
    readModel,
    registry,
    adminApiKey,
    secretCipher: createSecretCipher(encryptionKeyOf(encryptionKey)),
    values,
    heldLeases: createHeldLeases(values),
    // Redis has one memory for all: the bounds of answers keep their part of it small.
    answers: values,
    sessions: createNodeSessions(configuration, { configuration: readModel, values, catchUp }),
    tracing,
    demand,
    catchUp,
  };
  reportUnreadableSecrets(node);

  const app = createNodeServer(node);
  const operations = await addOperations(app, {
    // Without a write the node learns of no change: keys that were revoked elsewhere would stay valid here.
    ready: async () => refuseWhenOut(space),
    waitsFor: histories.waitsFor,
    exposition: () => exposition(registry, []),
  });
  const running = await startRoles(configuration.roles, {
    ...node,
    stageMetrics: createRecorder(stageMetrics, registry),
    backend,
    openHistory: histories.open,
    clickHouse: options.clickHouse,
    clusterOptions: options,
    writer,
    catalog,
    spatial: shareSpatialQueries(spatial),
    searchGeofences: spatial.searchGeofences,
    mailer,
    roads,
    app,
  });

  /** In the order of stopping. */
  const parts: readonly Part[] = [
    { stop: () => closeHttp(app, configuration, logger) },
    { stop: async () => stores.spaceWatch.stop() },
    stores.folderWatch,
    stores.commands,
    ...stopOrder.flatMap((role) => running.get(role) ?? []),
    { stop: async () => following.stop() },
    ...[mailer, roads, changes, catalog, readModel, backend, tracing].map(closing),
  ];
  return {
    app,
    configuration: readModel,
    writer,
    createSignInLink: createSignInLinks(app, configuration, values),
    claimFirstProject: async () =>
      running.has('api') && (await backend.leases.take('first-project', firstProjectLeaseMs)),
    markStarted: operations.markStarted,
    failed: failureOf(parts, space).catch(async (error) => {
      await releasePartitions(running);
      throw error;
    }),
    stop: () => stopInOrder(parts),
  };
}

interface SharedSecrets {
  readonly adminApiKey: string;
  readonly encryptionKey: string;
}

/** Returns the secrets that must be equal on all nodes. Throws ConfigurationError for a missing one. */
function sharedSecrets(environment: Readonly<Record<string, string | undefined>>): SharedSecrets {
  const required = (variable: string, format: string): string => {
    const value = environment[variable];
    if (!value) throw new ConfigurationError([`${variable}: must be set in a cluster, equal on every node: ${format}`]);
    return value;
  };
  return {
    adminApiKey: required('FENCELINE_ADMIN_API_KEY', 'a long random text'),
    encryptionKey: required('FENCELINE_ENCRYPTION_KEY', '64 hex digits, for example from "openssl rand -hex 32"'),
  };
}
