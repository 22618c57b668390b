/**
 * Configures servers under test as nodes of a fresh cluster, on the services of the cluster project.
 *
 * Black-box files work in both projects: embedded in one, on a cluster in the other.
 */
import { randomBytes } from 'node:crypto';
import { type Services, services } from '../../testing/services/services.js';

/** The shortest that brokers allow by default, so that a killed node is replaced soon. */
export const sessionTimeoutMs = 6_000;

export interface TestCluster {
  /** The prefix of topics and groups, and the name of the database. */
  readonly name: string;
  readonly adminApiKey: string;
  /** The settings of every node. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Services that replace the shared ones. */
export type OwnServices = Partial<Omit<Services, 'redisCluster'>>;

/** Returns undefined in the embedded project. */
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
