/** Creates ioredis clients with time limits and without offline queues, which reconnect without limit. */
import { Cluster, type Command, type CommonRedisOptions, Redis } from 'ioredis';
import { pauseMs } from '../../../pipeline/retrying.js';
import { type ClientObserver, noObserver, observed } from '../client-observer.js';
import type { RedisOptions } from '../options.js';
import { createConnector } from './connector.js';

/** A client of one server or of a Redis Cluster. Both have the same commands. */
export type RedisClient = Redis | Cluster;

/** How often a server that loads its data from disk is polled. */
const loadingPollMs = 500;
/** Refresh interval of a cluster's slots. MOVED replies report relevant changes earlier. */
const slotsRefreshIntervalMs = 30_000;

/**
 * Returns a client that connects and reconnects on its own. It emits errors as `error`, and errors of a cluster's nodes
 * as `node error`. A client with `subscribes` can subscribe to sharded channels in a cluster.
 */
export function createClient(
  options: RedisOptions,
  { subscribes = false, observer = noObserver }: { subscribes?: boolean; observer?: ClientObserver } = {},
): RedisClient {
  const client = newClient(options, subscribes, observer);
  client.on('+node', ignoreLostAsking);
  // ioredis repeats subscriptions here without a look at the outcome. An observed command has a handler for it.
  const send = client.sendCommand.bind(client) as (...given: unknown[]) => Promise<unknown>;
  client.sendCommand = (command: Command, ...rest: unknown[]) =>
    observed(observer, command.name, () => send(command, ...rest));
  return client;
}

/**
 * Handles that ASKING is lost with its connection: ioredis ignores its outcome, and the process would end. The command
 * that follows it rejects as well.
 */
function ignoreLostAsking(node: Redis): void {
  const { asking } = node;
  node.asking = ((...given: Parameters<typeof asking>) => {
    const answer: Promise<unknown> = asking.apply(node, given);
    answer.catch(() => {});
    return answer;
  }) as typeof asking;
}

function newClient(options: RedisOptions, subscribes: boolean, observer: ClientObserver): RedisClient {
  const retryStrategy = (attempt: number): number => pauseMs(attempt - 1);
  const nodes = options.nodes.map(({ host, port }) => ({ host, port }));
  if (!options.isCluster) {
    return new Redis({
      ...nodes[0]!,
      ...connectionOptions(options, observer),
      enableOfflineQueue: false,
      retryStrategy,
    });
  }
  return new Cluster(nodes, {
    redisOptions: connectionOptions(options, observer),
    enableOfflineQueue: false,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: options.connectTimeoutMs,
    slotsRefreshInterval: slotsRefreshIntervalMs,
    shardedSubscribers: subscribes,
    // Keeps host names, because certificates are issued to them. The system resolves them when it connects.
    dnsLookup: (host, callback) => callback(null, host),
  });
}

function connectionOptions(
  { username, password, tls, connectTimeoutMs, commandTimeoutMs }: RedisOptions,
  observer: ClientObserver,
) {
  return {
    username,
    password,
    tls,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    // Closes the connection to a server that does not answer, with everything queued for it.
    socketTimeout: commandTimeoutMs,
    // Commands in flight fail when the connection is lost, instead of being sent again without our knowledge.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    maxLoadingRetryTime: loadingPollMs,
    // A demoted server refuses writes. The address may lead to its successor by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    connectionName: 'fenceline',
    Connector: createConnector(observer),
  } satisfies CommonRedisOptions & { tls: unknown };
}

/** Returns the known servers that hold keys: all masters of a cluster, or the single server. */
export const mastersOf = (client: RedisClient): Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client];
