/** Checks Redis: reach, version, eviction, persistence, permissions and clock. Writes one key, which it deletes. */
import type { RedisOptions } from '../../backends/cluster/options.js';
import { createClient, mastersOf, type RedisClient } from '../../backends/cluster/redis/client.js';
import { evictionProblem } from '../../backends/cluster/redis/eviction.js';
import { compareClock } from './clock.js';
import { type Finding, findingsAbout } from './finding.js';
import { outOfReach, reach } from './reach.js';

const { ok, warning, failure } = findingsAbout('Redis');

const oldestMajor = 7;
const connectLimitMs = 10_000;
const probeExpiryMs = 60_000;

/** Yields findings, and ends after a failure that hides others. Closes its connection. */
export async function* checkRedis(options: RedisOptions): AsyncGenerator<Finding> {
  const reached = await Promise.all(options.nodes.map(({ host, port }) => reach(host, port)));
  const away = outOfReach(reached);
  if (reached.every(({ problem }) => problem !== undefined)) {
    yield failure(`no server can be reached: ${away}`, 'Check redis.nodes, firewalls, and whether Redis runs.');
    return;
  }
  if (away !== '') yield warning(`servers are out of reach: ${away}`, 'Start them, or remove them from redis.nodes.');
  const client = createClient(options);
  try {
    const problem = await connectionProblem(client);
    if (problem !== undefined) {
      const remedy = 'Check redis.mode, redis.tls, redis.caFile, redis.username and FENCELINE_REDIS_PASSWORD.';
      yield failure(`the connection fails: ${problem}`, remedy);
      return;
    }
    yield* checkServers(client);
    yield await checkAccess(client, options);
    yield await compareClock('Redis', () => timeMs(client));
  } catch (error) {
    yield failure((error as Error).message, 'See "Permissions" in docs/cluster.md for the rules of the user.');
  } finally {
    client.disconnect();
  }
}

/** Resolves when the client is ready, or with the reason why it does not get ready. */
const connectionProblem = (client: RedisClient): Promise<string | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`no answer in ${connectLimitMs / 1_000} s`), connectLimitMs);
    const end = (problem?: string): void => {
      clearTimeout(timer);
      resolve(problem);
    };
    client.once('ready', () => end());
    client.on('error', (error: Error & { readonly lastNodeError?: Error | null }) =>
      end((error.lastNodeError ?? error).message),
    );
  });

async function* checkServers(client: RedisClient): AsyncGenerator<Finding> {
  const servers = mastersOf(client);
  const found: Finding[] = [];
  const versions = new Set<string>();
  for (const server of servers) {
    const { host, port } = server.options;
    const name = `${host}:${port}`;
    const info = await server.info();
    const field = (key: string): string => new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const version = field('redis_version');
    versions.add(version);
    if (Number(version.split('.')[0]) < oldestMajor)
      found.push(failure(`${name} is version ${version}`, `Upgrade it to ${oldestMajor}.0 or newer.`));
    const eviction = evictionProblem(info);
    if (eviction !== undefined) found.push(failure(`${name} has ${eviction}`, 'Set maxmemory-policy to noeviction.'));
    if (field('aof_enabled') === '0')
      found.push(
        warning(
          `${name} has appendonly no: after a crash, device states fall behind the log`,
          'Set "appendonly yes" and "appendfsync everysec".',
        ),
      );
    if (field('role') === 'slave')
      found.push(failure(`${name} is a replica and accepts no writes`, 'Set redis.nodes to the primary.'));
  }
  yield ok(`${servers.length} ${servers.length === 1 ? 'server' : 'servers'}, version ${[...versions].join(', ')}`);
  yield* found;
}

/** Writes, reads and deletes a key, runs a script, and publishes, under the prefix. */
async function checkAccess(client: RedisClient, { prefix }: RedisOptions): Promise<Finding> {
  const key = `${prefix}doctor`;
  const failed: string[] = [];
  const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
    set: () => client.set(key, '1', 'PX', probeExpiryMs),
    get: () => client.get(key),
    eval: () => client.eval("return redis.call('GET', KEYS[1])", 1, key),
    publish: () => client.publish(key, '1'),
    del: () => client.del(key),
  };
  for (const [command, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
    } catch (error) {
      failed.push(`${command}: ${(error as Error).message}`);
    }
  }
  if (failed.length === 0) return ok(`this user may read, write, run scripts and publish under ${prefix}`);
  return failure(
    `permissions are missing: ${failed.join('; ')}`,
    'See "Permissions" in docs/cluster.md for the rules.',
  );
}

async function timeMs(client: RedisClient): Promise<number> {
  const [seconds, microseconds] = await mastersOf(client)[0]!.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}
