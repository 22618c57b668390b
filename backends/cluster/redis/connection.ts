/**
 * One process's way to Redis, a single server or a Redis Cluster: encrypted and logged in as configured, bounded in time, made anew in the
 * background for as long as it takes.
 *
 * Nothing queues while Redis is away: commands fail at once, and {@link RedisConnection.withRetries} sits out the outage. A command that
 * failed may have been done, or may even be done later than its repeat: who repeats one says why that is safe.
 */
import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import { pauseMs, retried } from '../kafka/retrying.js';
import type { RedisOptions } from '../options.js';
import { isPassing, withoutArguments } from './errors.js';

export type RedisClient = Redis | Cluster;

export interface RedisConnection {
  /** Commands with their answers. Errors carry the command's arguments: they are for {@link RedisConnection.withRetries}, not for logs. */
  readonly client: RedisClient;
  readonly options: RedisOptions;
  /**
   * What `work` resolves to. While Redis is away, or moves what `work` asks for, it is done again and again for a minute; other errors, and
   * the last one, are passed on without the command's arguments.
   */
  withRetries<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for the answers to what was sent. */
  close(): Promise<void>;
}

/** While a server reads its data from disk, how often it is asked whether it has. */
const loadingPollMs = 500;

/** Rejects when there is no connection after a minute, or as soon as the server refuses us. */
export async function connectRedis(options: RedisOptions, onProblem: (message: string) => void): Promise<RedisConnection> {
  const client = createClient(options);
  let problem: Error | undefined;
  const report = (error: Error & { lastNodeError?: Error | null }): void => {
    const cause = error.lastNodeError ?? error;
    // An outage is one problem, however often the connection is tried.
    if (cause.message !== problem?.message) onProblem(`redis: ${cause.message}`);
    problem = cause;
  };
  client.on('error', report);
  client.on('node error', report);
  client.on('ready', () => {
    problem = undefined;
  });
  let isClosed = false;
  const isFinal = (error: unknown): boolean => isClosed || !isPassing(error);

  async function withRetries<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await retried(work, { isFinal });
    } catch (error) {
      throw withoutArguments(error);
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await client.quit().catch(() => client.disconnect());
  }

  try {
    await withRetries(async () => {
      if (problem !== undefined && !isPassing(problem)) throw problem;
      await client.ping();
    });
  } catch (error) {
    client.disconnect();
    const nodes = options.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
    throw new Error(`no connection to Redis at ${nodes}: ${(problem ?? (error as Error)).message}`);
  }
  return { client, options, withRetries, close };
}

/** A client that connects by itself, now and whenever it must. Errors are emitted as `error` and, of nodes of a cluster, as `node error`. */
export function createClient(options: RedisOptions, { subscribes = false } = {}): RedisClient {
  const retryStrategy = (attempt: number): number => pauseMs(attempt - 1);
  if (!options.isCluster) {
    return new Redis({ ...options.nodes[0]!, ...connectionOptions(options), enableOfflineQueue: false, retryStrategy });
  }
  return new Cluster([...options.nodes], {
    redisOptions: connectionOptions(options),
    enableOfflineQueue: false,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: options.connectTimeoutMs,
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
