/**
 * A process's connection to Redis, a single server or a Redis Cluster. It reconnects in the background without limit.
 *
 * Nothing is queued during an outage: commands fail at once, and {@link RedisConnection.withRetries} retries them. A
 * failed command may have been executed, or may even be executed after its repetition. Code that repeats a command
 * states why that is safe.
 */
import type { Redis } from 'ioredis';
import { outageLimitMs as defaultOutageLimitMs, retried } from '../../../pipeline/retrying.js';
import { type ClientObserver, noObserver } from '../client-observer.js';
import type { RedisOptions } from '../options.js';
import type { Patience } from '../patience.js';
import { createProblemReporter } from '../problem-reporter.js';
import { ServiceError } from '../service-error.js';
import { createClient, type RedisClient } from './client.js';
import { isForAll, isPassing, withoutArguments } from './errors.js';

/** The connection that all parts of a process share. Its owner closes it after the parts. */
export interface RedisConnection {
  /** Errors of this client contain the command's arguments. Don't log them; use {@link RedisConnection.withRetries}. */
  readonly client: RedisClient;
  readonly options: RedisOptions;
  /**
   * Runs `work`, and repeats it while Redis is out of reach or moves the keys, by default for a minute. Rejects with
   * other errors at once and with the last one after the limit, without the command's arguments. Without a limit of its
   * own, `work` also waits for as long as Redis answers that it serves nobody, if the connection has patience.
   */
  withRetries<T>(work: () => Promise<T>, limitMs?: number): Promise<T>;
  /** Calls the listener whenever a server is reachable again. Returns a function that removes the listener. */
  onReturn(listener: () => void): () => void;
  /** Returns another client for subscriptions. It closes with this connection. */
  newSubscriber(): RedisClient;
  /** Waits for replies, then disconnects. */
  close(): Promise<void>;
}

interface ConnectParts {
  readonly observer?: ClientObserver | undefined;
  /** With a server that answers, but serves nobody at the moment. Default: none. */
  readonly patience?: Patience;
  /** How long work is repeated during an outage. Default a minute. */
  readonly outageLimitMs?: number;
}

/** Connects. Rejects after a minute without a connection, or when the server refuses the login. */
export async function connectRedis(
  options: RedisOptions,
  onProblem: (message: string) => void,
  { observer = noObserver, patience, outageLimitMs = defaultOutageLimitMs }: ConnectParts = {},
): Promise<RedisConnection> {
  const report = createProblemReporter(onProblem);
  const nodes = options.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  const clients = new Set<RedisClient>();
  let problem: Error | undefined;
  let isClosed = false;

  function open(subscribes: boolean): RedisClient {
    const client = createClient(options, { subscribes, observer });
    const take = (error: Error & { readonly lastNodeError?: Error | null }): void => {
      problem = error.lastNodeError ?? error;
      report(`redis: ${problem.message}`);
    };
    client.on('error', take);
    client.on('node error', take);
    clients.add(client);
    client.once('end', () => clients.delete(client));
    return client;
  }

  function isWaitedFor(error: unknown): boolean {
    if (patience === undefined || !isForAll(error)) return false;
    patience.refused('redis', (error as Error).message);
    return !patience.isOver;
  }

  /** Names the server and the reason: without a connection that of the connection, because commands say only that. */
  function givenUp(error: Error): ServiceError {
    const { message } = client.status === 'ready' ? error : (problem ?? error);
    return new ServiceError(`Redis at ${nodes} can't be used: ${message}`);
  }

  async function withRetries<T>(work: () => Promise<T>, limitMs?: number): Promise<T> {
    try {
      return await retried(work, {
        limitMs: limitMs ?? outageLimitMs,
        isFinal: (error) => isClosed || !isPassing(error),
        isForAll: (error) => limitMs === undefined && isWaitedFor(error),
      });
    } catch (error) {
      throw isClosed || !isPassing(error) ? withoutArguments(error) : givenUp(error as Error);
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await Promise.all(Array.from(clients, (client) => client.quit().catch(() => client.disconnect())));
  }

  const client = open(false);
  const listeners = new Set<() => void>();
  const callListeners = (): void => {
    for (const listener of listeners) listener();
  };
  client.on('ready', callListeners);
  client.on('+node', (node: Redis) => node.on('ready', callListeners));
  function onReturn(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }
  try {
    await withRetries(async () => {
      // A refused login is reported to the connection, not to its commands.
      if (problem !== undefined && !isPassing(problem)) throw problem;
      await client.ping();
    });
  } catch (error) {
    client.disconnect();
    throw new ServiceError(`no connection to Redis at ${nodes}: ${(problem ?? (error as Error)).message}`);
  }
  return { client, options, withRetries, onReturn, newSubscriber: () => open(true), close };
}
