/**
 * Starts the services that cluster tests share before their first file, and ends them after the last.
 *
 * Input: what is installed (`provider.ts`). Output: `Services`, for `services()`. If a service is missing, a line
 * names the reason and the files are skipped (`runner.ts`). With CI=true this is a failure.
 */
import type { TestProject } from 'vitest/node';
import { type ClickHouseAddress, startClickHouse } from './clickhouse/clickhouse.js';
import { kafka, recordKafkaClasses, startKafka } from './kafka.js';
import { lacking } from './provider.js';
import { redis, startRedis, startRedisCluster } from './redis.js';
import { recordRegistryClasses, registry, startRegistry } from './registry.js';
import type { Server } from './server.js';
import type { Services } from './services.js';

const isCi = process.env.CI === 'true';

/** Starts the services and returns the function that ends them. Throws in CI if one is missing. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const lacks = await missingServices();
  for (const line of lacks) console.error(line);
  if (lacks.length > 0 && isCi) throw new Error('services for the cluster tests are missing');
  if (lacks.length > 0) return undefined;
  await Promise.all([recordKafkaClasses(), recordRegistryClasses()]);
  const { services, stop } = await startServices();
  project.provide('services', services);
  return stop;
}

async function missingServices(): Promise<string[]> {
  const all = [kafka, redis, registry];
  const lacks = await Promise.all(
    all.map(async (software) => ({ name: software.name, reason: await lacking(software) })),
  );
  return lacks.flatMap(({ name, reason }) => (reason ? [`no ${name} for the cluster tests: ${reason}`] : []));
}

async function startServices(): Promise<{ services: Services; stop: () => Promise<void> }> {
  const started: Server[] = [];
  const stop = async () => void (await Promise.all(started.map((server) => server.stop())));
  const timed = async <T extends Server & { readonly version: string }>(
    name: string,
    starting: Promise<T>,
  ): Promise<T> => {
    const startedMs = performance.now();
    const server = await starting;
    started.push(server);
    console.log(`${name} ${server.version} started in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    return server;
  };
  const all = [
    timed('kafka', startKafka()),
    timed('redis', startRedis()),
    timed('redis cluster', startRedisCluster()),
    timed('registry', startRegistry()),
    timed('clickhouse', startClickHouse()).catch(withoutClickHouse),
  ] as const;
  try {
    const [{ brokers }, { host, port }, { nodes }, { url }, clickhouse] = await Promise.all(all);
    const services: Services = {
      kafka: { brokers },
      redis: { host, port },
      redisCluster: { nodes: nodes.map((node) => ({ host: node.host, port: node.port })) },
      registry: { url },
      clickhouse: { url: clickhouse.url, username: clickhouse.username, password: clickhouse.password },
    };
    return { services, stop };
  } catch (error) {
    await Promise.allSettled(all);
    await stop();
    throw error;
  }
}

/** Its stand-in must be compiled. Outside CI, files that do not need ClickHouse run without it. */
function withoutClickHouse(error: Error): ClickHouseAddress {
  if (isCi) throw error;
  console.error(`no clickhouse for the cluster tests: "npm run build" first? ${error.message}`);
  return { url: 'http://not-started.invalid', username: '', password: '' };
}
