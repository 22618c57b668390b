/**
 * One process of a cluster, doing what its roles say. Any number of processes may have the same role.
 *
 * Each keeps its own read model of the configuration, in a folder that can be made anew. What it works on is in Kafka,
 * Redis and ClickHouse; any part failing ends the process, and whoever takes over goes on from what is committed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { openCluster } from '../backends/cluster/cluster.js';
import { createSpace, refuseWhenFull } from '../backends/embedded/space.js';
import { createCatalog } from '../pipeline/catalog/index/catalog.js';
import { createSpatialQueries } from '../pipeline/catalog/queries/queries.js';
import { createCatchUp, createConfigurationWriter, followComparedChanges } from '../pipeline/catalog/store/changes.js';
import { createSecretCipher } from '../pipeline/encryption.js';
import { type Log, topics } from '../pipeline/ports.js';
import { stageMetrics } from '../pipeline/stages/metrics.js';
import { closeHttp } from './close-http.js';
import { clusterOptionsOrRefuse } from './cluster-options.js';
import { type Part, type RoleParts, startRole } from './cluster-roles.js';
import type { Configuration, Role } from './config/schema.js';
import { prepareDataFolder } from './data-folder/data-folder.js';
import { discardOldReadModel, discardOtherFormat, openNodeReadModel } from './data-folder/folders.js';
import { lockFolder } from './data-folder/lock.js';
import { migrateDataFolder } from './data-folder/migrate.js';
import { watchSpace } from './data-folder/space-watch.js';
import { ConfigurationError } from './failures.js';
import { createNodeServer } from './http.js';
import { encryptionKeyOf } from './keys/encryption-key.js';
import { createProcessRegistry, createRecorder, exposition } from './metrics.js';
import { failure, type Node } from './node.js';
import { operationsRoutes } from './operations.js';

/** So long the making of a first project is left to the node that took its turn. */
const greetingTurnMs = 60_000;

/**
 * For how long a request waits until this node has caught up with topic `changes`, and until it has applied what
 * was appended.
 */
const editLimitMs = 10_000;
/** For how long a request with a key that this node does not know waits for the same. */
const unknownKeyLimitMs = 2_000;

const clusterMetrics = {
  dependency_errors_total: {
    kind: 'counter',
    help: 'Errors of Kafka, Redis or the registry that were retried or worked around. A few per broker restart are normal.',
  },
} as const;

/**
 * So long a node that failed takes to let go what it works on: others take over at once then, and not only when it is
 * missed.
 */
const letGoTimeoutMs = 5_000;

/** In the order in which they stop: who takes in first, then who writes, then who reads what was written. */
const stopOrder: readonly Role[] = ['ingest', 'api', 'pipeline', 'webhooks', 'analytics'];
/** Those that share partitions with other nodes. */
const consumingRoles: readonly Role[] = ['pipeline', 'webhooks', 'analytics'];

export async function startClusterNode(configuration: Configuration, logger: Logger): Promise<Node> {
  const options = clusterOptionsOrRefuse(configuration);
  const secrets = sharedSecrets(process.env);
  prepareDataFolder(configuration.data, logger);
  await lockFolder(configuration.data);
  migrateDataFolder(configuration.data, logger);

  const registry = createProcessRegistry();
  const metrics = createRecorder(clusterMetrics, registry);
  const space = createSpace();
  const spaceWatch = await watchSpace({ configuration, space, logger, registry });
  const onProblem = (problem: string): void => {
    logger.warn({ problem }, 'cluster');
    metrics.add('dependency_errors_total', 1);
  };
  const backend = await openCluster({ ...options, onProblem });
  const { log } = backend;
  /** Kafka has room for a change that this node's read model has none for: the caller would wait for the read model. */
  const requestLog: Log = {
    ...backend.requestLog,
    async append(topic, records) {
      if (topic === topics.changes) refuseWhenFull(space);
      await backend.requestLog.append(topic, records);
    },
  };
  discardOldReadModel(configuration, Date.now());
  discardOtherFormat(configuration);
  const readModel = openNodeReadModel(configuration, space);
  const changes = await followComparedChanges({
    log,
    readModel,
    onProblem: (problem) => logger.error(problem, 'change skipped'),
  });
  const writer = createConfigurationWriter({ log: requestLog, readModel, limitMs: editLimitMs });
  await Promise.race([failure(changes.done), readModel.waitFor(await log.end(topics.changes, 0))]);

  // After the read model has caught up: the catalog loads its fences from it.
  const catalog = createCatalog(readModel);
  const { adminApiKey } = secrets;
  const catchUp = createCatchUp({ log: requestLog, readModel, limitMs: unknownKeyLimitMs });
  const app = createNodeServer({ configuration, logger, readModel, registry, adminApiKey, catchUp });
  await app.register(operationsRoutes, { ready: async () => {}, exposition: () => exposition(registry, []) });
  const shared: RoleParts = {
    configuration,
    logger,
    registry,
    stageMetrics: createRecorder(stageMetrics, registry),
    backend,
    clickHouse: options.clickHouse,
    readModel,
    writer,
    catalog,
    spatial: createSpatialQueries(catalog, Date.now),
    secretCipher: createSecretCipher(encryptionKeyOf(secrets.encryptionKey)),
    app,
  };
  const parts = new Map<Role, Part>();
  for (const role of configuration.roles) parts.set(role, await startRole(role, shared));

  async function letGo(): Promise<void> {
    const stopped = Promise.allSettled(consumingRoles.map((role) => parts.get(role)?.stop()));
    await Promise.race([stopped, delay(letGoTimeoutMs)]);
  }

  return {
    app,
    configuration: readModel,
    writer,
    mayGreet: async () => parts.has('api') && (await backend.leases.take('first-project', greetingTurnMs)),
    failed: Promise.race([changes.done, ...Array.from(parts.values(), ({ done }) => done)].map(failure)).catch(
      async (error) => {
        await letGo();
        throw error;
      },
    ),
    async stop() {
      await closeHttp(app, configuration, logger);
      spaceWatch.stop();
      for (const role of stopOrder) await parts.get(role)?.stop();
      await changes.close();
      await catalog.close();
      await readModel.close();
      await backend.close();
    },
  };
}

interface SharedSecrets {
  readonly adminApiKey: string;
  readonly encryptionKey: string;
}

/** What all nodes must have alike, and none can make for the others. */
function sharedSecrets(environment: Readonly<Record<string, string | undefined>>): SharedSecrets {
  const of = (variable: string, how: string): string => {
    const value = environment[variable];
    if (!value) throw new ConfigurationError(`a cluster needs ${variable}, the same on every node: ${how}`);
    return value;
  };
  return {
    adminApiKey: of('FENCELINE_ADMIN_API_KEY', 'a long random text'),
    encryptionKey: of('FENCELINE_ENCRYPTION_KEY', '64 hex digits, as from "openssl rand -hex 32"'),
  };
}
