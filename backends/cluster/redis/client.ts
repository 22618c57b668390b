/** How we use ioredis: bounded in time, nothing queued, connected anew for as long as it takes. */
import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { RedisOptions } from '../options.js';
import { pauseMs } from '../retrying.js';

export type RedisClient = Redis | Cluster;

/** While a server reads its data from disk, how often it is asked whether it has. */
const loadingPollMs = 500;
/** Of a cluster, by every client; a change that concerns us is noticed by the answers to our commands. */
const slotsRefreshIntervalMs = 30_000;

/**
 * A client that connects by itself, now and whenever it must. Errors are emitted as `error` and, of nodes of a cluster,
 * as `node error`. One that `subscribes` hears sharded channels in a cluster too.
 */
export function createClient(options: RedisOptions, { subscribes = false } = {}): RedisClient {
  const retryStrategy = (attempt: number): number => pauseMs(attempt - 1);
  const nodes = options.nodes.map(({ host, port }) => ({ host, port }));
  if (!options.isCluster) {
    return new Redis({ ...nodes[0]!, ...connectionOptions(options), enableOfflineQueue: false, retryStrategy });
  }
  return new Cluster(nodes, {
    redisOptions: connectionOptions(options),
    enableOfflineQueue: false,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: options.connectTimeoutMs,
    slotsRefreshInterval: slotsRefreshIntervalMs,
    shardedSubscribers: subscribes,
    // A name stays a name, for a certificate is made out to it; the system looks it up when it connects.
    dnsLookup: (host, callback) => callback(null, host),
  });
}

function connectionOptions({ username, password, tls, connectTimeoutMs, commandTimeoutMs }: RedisOptions) {
  return {
    username,
    password,
    tls,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    // A server that answers nothing is left, and with the connection goes all that waits to be written to it.
    socketTimeout: commandTimeoutMs,
    // What is under way when the connection is lost fails at once, instead of being sent again behind our back.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    maxLoadingRetryTime: loadingPollMs,
    // A server that was demoted refuses to write: the address may meanwhile lead to its successor.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    connectionName: 'fenceline',
  } satisfies CommonRedisOptions & { tls: unknown };
}

/** The servers that have the keys, as far as the client knows them: of a cluster all masters. */
export const mastersOf = (client: RedisClient): Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client];
