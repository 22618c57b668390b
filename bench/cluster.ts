/**
 * A cluster under measurement: Kafka, Redis, a registry and ClickHouse on this machine, started as for the cluster
 * tests.
 * The nodes share the cores with them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newProject } from '../api/projects/projects.js';
import { type ClusterBackend, openCluster } from '../backends/cluster/cluster.js';
import { appendChange } from '../pipeline/catalog/store/append-change.js';
import type { ConfigurationChange } from '../pipeline/catalog/types.js';
import { createSecretCipher } from '../pipeline/encryption.js';
import { topics } from '../pipeline/ports.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import { clusterOptionsOrRefuse } from '../server/cluster-options.js';
import { loadConfiguration } from '../server/config/load.js';
import type { Role } from '../server/config/schema.js';
import { type Keys, launchServer, type ServerProcess } from '../server/server-process.js';
import { startClickHouse } from '../testing/services/clickhouse/clickhouse.js';
import { startKafka } from '../testing/services/kafka.js';
import { startRedis } from '../testing/services/redis.js';
import { startRegistry } from '../testing/services/registry.js';
import type { Server } from '../testing/services/server.js';
import { withoutLimits } from './limits.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const encryptionKey = 'be'.repeat(32);
const changesAtOnce = 1_000;
/** Partitions of every topic. */
export const benchPartitions = 8;

/** The project of all measurements. */
export interface BenchProject {
  readonly id: string;
  /** The key of its test environment. */
  readonly secretKey: string;
}

/** A node of the cluster. */
export interface BenchNode extends ServerProcess {
  readonly address: string;
  readonly keys: Keys | undefined;
}

/** As Compose, the Helm chart and docs/cluster.md start processes that evaluate. */
const pipelineOptions = '--max-semi-space-size=64';

/** Started services, and the nodes that a case starts on them. */
export class BenchCluster {
  /** The bench's own connections to the services. */
  readonly backend: ClusterBackend;
  readonly secretCipher = createSecretCipher(Buffer.from(encryptionKey, 'hex'));
  readonly #environment: Readonly<Record<string, string>>;
  readonly #services: readonly Server[];
  readonly #folder: string;
  readonly #nodes = new Set<ServerProcess>();
  /** Of a smoke run, by their roles. */
  readonly #sharedNodes: Map<string, Promise<BenchNode>> | undefined;
  #started = 0;

  private constructor(
    backend: ClusterBackend,
    environment: Readonly<Record<string, string>>,
    services: readonly Server[],
    folder: string,
    sharesNodes: boolean,
  ) {
    this.backend = backend;
    this.#environment = environment;
    this.#services = services;
    this.#folder = folder;
    this.#sharedNodes = sharesNodes ? new Map() : undefined;
  }

  /** Starts the services. With `sharesNodes`, nodes of the same roles are one, because each start costs a second. */
  static async start({ sharesNodes }: { readonly sharesNodes: boolean }): Promise<BenchCluster> {
    const [kafka, redis, registry, clickhouse] = await Promise.all([
      startKafka(),
      startRedis({ appendfsync: 'everysec' }),
      startRegistry(),
      startClickHouse(),
    ]);
    const environment = {
      ...withoutLimits,
      FENCELINE_BACKEND: 'cluster',
      FENCELINE_LOG_LEVEL: 'warn',
      FENCELINE_ADMIN_API_KEY: 'admin-key-of-the-bench',
      FENCELINE_ENCRYPTION_KEY: encryptionKey,
      FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
      FENCELINE_LOCATIONS_PARTITIONS: `${benchPartitions}`,
      FENCELINE_KAFKA_BROKERS: kafka.brokers.join(','),
      FENCELINE_KAFKA_SESSION_TIMEOUT_MS: '6000',
      FENCELINE_REDIS_NODES: `${redis.host}:${redis.port}`,
      FENCELINE_REGISTRY_URL: registry.url,
      FENCELINE_CLICKHOUSE_URL: clickhouse.url,
      FENCELINE_CLICKHOUSE_USERNAME: clickhouse.username,
      FENCELINE_CLICKHOUSE_PASSWORD: clickhouse.password,
    };
    const loaded = loadConfiguration({ environment, flags: {} });
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
    const backend = await openCluster({ ...clusterOptionsOrRefuse(loaded.configuration), onProblem: console.error });
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-bench-'));
    return new BenchCluster(backend, environment, [kafka, redis, registry, clickhouse], folder, sharesNodes);
  }

  /** Starts a node and resolves when it is ready. Each node has a new folder, so it first fills its read model. */
  node(...roles: readonly Role[]): Promise<BenchNode> {
    if (!this.#sharedNodes) return this.#newNode(roles);
    const name = roles.join();
    const shared = this.#sharedNodes.get(name) ?? this.#newNode(roles);
    this.#sharedNodes.set(name, shared);
    return shared;
  }

  /** Ends a node, or leaves it to the measurements that share it. */
  async end(node: BenchNode): Promise<void> {
    if (!this.#sharedNodes) await node.stop();
  }

  async #newNode(roles: readonly Role[]): Promise<BenchNode> {
    const launched = launchServer({
      program,
      dataFolder: join(this.#folder, `${this.#started++}`),
      environment: {
        ...this.#environment,
        FENCELINE_ROLES: roles.join(','),
        ...(roles.includes('pipeline') && { NODE_OPTIONS: pipelineOptions }),
      },
    });
    this.#nodes.add(launched);
    return { ...launched, ...(await launched.ready) };
  }

  /** Creates a project that has these fences, before any node starts. */
  async configure(fencesOf: (project: string) => Iterable<GeofenceRecord>): Promise<BenchProject> {
    const { project, keys } = newProject({ name: 'Bench' }, Date.now());
    await this.write({ kind: 'project', id: project._id, record: project });
    const waiting: Promise<void>[] = [];
    for (const record of fencesOf(project._id)) {
      waiting.push(this.write({ kind: 'geofence', id: record._id, record }));
      if (waiting.length === changesAtOnce) await Promise.all(waiting.splice(0));
    }
    await Promise.all(waiting);
    const issued = keys.find(({ record }) => record.environment === 'test' && record.kind === 'secret');
    return { id: project._id, secretKey: issued!.key };
  }

  /** Writes a change. Nodes that start later have it at once; others within a second. */
  write(change: ConfigurationChange): Promise<void> {
    return appendChange({ log: this.backend.log, clock: Date.now }, change);
  }

  /** Returns the number of appended locations that are not applied yet. */
  async backlog(): Promise<number> {
    const { log, requestStates } = this.backend;
    const nextOffsets = await requestStates.nextOffsets(benchPartitions);
    const ends = await Promise.all(nextOffsets.map((_, partition) => log.bounds(topics.locations, partition)));
    return ends.reduce((sum, { end }, partition) => sum + end - (nextOffsets[partition] as number), 0);
  }

  /** Ends nodes and services and deletes their data. */
  async dispose(): Promise<void> {
    await Promise.all(Array.from(this.#nodes, (node) => node.kill()));
    await this.backend.close();
    await Promise.all(this.#services.map((service) => service.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
