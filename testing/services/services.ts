/**
 * The real services that cluster tests share: Kafka, Redis, Redis Cluster, a schema registry and ClickHouse.
 *
 * Input: what the project's global setup started for this run (`setup.ts`). Output: their addresses. Many files
 * use them at once, so a test puts a random prefix before its topics, keys and databases, and never flushes, kills or
 * pauses. A test that must do that, or that needs credentials, TLS or several brokers, starts its own: `startKafka`,
 * `startRedis`, `startRedisCluster`, `startRegistry`, `startClickHouse`; `startProxy` makes the way to any of them bad,
 * and `startRegistryFront` puts credentials and TLS before a registry.
 */
import { inject } from 'vitest';
import type { ClickHouseAddress } from './clickhouse/clickhouse.js';
import type { Address } from './ports.js';

/** The addresses of the shared services. */
export interface Services {
  readonly kafka: { readonly brokers: readonly string[] };
  readonly redis: Address;
  readonly redisCluster: { readonly nodes: readonly Address[] };
  /** Of the Confluent-compatible API. */
  readonly registry: { readonly url: string };
  readonly clickhouse: ClickHouseAddress;
}

declare module 'vitest' {
  interface ProvidedContext {
    services: Services | undefined;
  }
}

/** Returns the services; undefined if they are missing. The files of the cluster project are skipped then. */
export const services = (): Services | undefined => inject('services');
