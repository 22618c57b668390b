/**
 * What makes servers under test nodes of a cluster: a fresh one per call, on the services that the cluster project has
 * started.
 *
 * Files that say nothing of a backend run in both projects: embedded in the one, on a cluster in the other.
 */
import { randomBytes } from 'node:crypto';
import { type Services, services } from '../../testing/services/services.js';

/** Short, so that a node that was killed is replaced soon; brokers allow no less by default. */
export const sessionTimeoutMs = 6_000;

export interface TestCluster {
  /** Before the topics and groups, and what the database is called. */
  readonly name: string;
  readonly adminApiKey: string;
  /** Of every node. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Those of its services that are not the shared ones. */
export type OwnServices = Partial<Omit<Services, 'redisCluster'>>;

/** Undefined where nodes are embedded ones. */
export function newTestCluster(own: OwnServices = {}): TestCluster | undefined {
  const shared = services();
  if (!shared) return undefined;
  const { kafka, redis, registry, clickhouse } = { ...shared, ...own };
  const name = `test_${randomBytes(6).toString('hex')}`;
  const adminApiKey = `fenceline_admin_${randomBytes(24).toString('hex')}`;
  return {
    name,
    adminApiKey,
    environment: {
      FENCELINE_BACKEND: 'cluster',
      FENCELINE_ADMIN_API_KEY: adminApiKey,
      FENCELINE_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      FENCELINE_KAFKA_BROKERS: kafka.brokers.join(','),
      FENCELINE_KAFKA_PREFIX: `${name}.`,
      FENCELINE_KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
      FENCELINE_REDIS_NODES: `${redis.host}:${redis.port}`,
      FENCELINE_REDIS_PREFIX: `${name}:`,
      FENCELINE_REGISTRY_URL: registry.url,
      FENCELINE_CLICKHOUSE_URL: clickhouse.url,
      FENCELINE_CLICKHOUSE_DATABASE: name,
      FENCELINE_CLICKHOUSE_USERNAME: clickhouse.username,
      FENCELINE_CLICKHOUSE_PASSWORD: clickhouse.password,
    },
  };
}
