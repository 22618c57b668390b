/**
 * One process's way to Redis, a single server or a Redis Cluster: encrypted and logged in as configured, bounded in
 * time, made anew in the background for as long as it takes.
 *
 * Nothing queues while Redis is away: commands fail at once, and {@link RedisConnection.withRetries} sits out the
 * outage. A command that failed may have been done, or may even be done later than its repeat: who repeats one says why
 * that is safe.
 */
import type { Redis } from 'ioredis';
import type { RedisOptions } from '../options.js';
import { outageLimitMs, retried } from '../retrying.js';
import { createClient, type RedisClient } from './client.js';
import { isPassing, withoutArguments } from './errors.js';

export interface RedisConnection {
  /**
   * Commands with their answers. Errors carry the command's arguments: they are for {@link
   * RedisConnection.withRetries}, not for logs.
   */
  readonly client: RedisClient;
  readonly options: RedisOptions;
  /**
   * What `work` resolves to. While Redis is away, or moves what `work` asks for, it is done again and again, by default
   * for a minute; other errors, and the last one, are passed on without the command's arguments.
   */
  withRetries<T>(work: () => Promise<T>, limitMs?: number): Promise<T>;
  /** Calls back whenever a server can be asked again after it could not. Returns how to end that. */
  onReturn(listener: () => void): () => void;
  /** Another client, for subscriptions; closed with this connection. */
  newSubscriber(): RedisClient;
  /** Waits for the answers to what was sent. */
  close(): Promise<void>;
}

/** Rejects when there is no connection after a minute, or as soon as the server refuses us. */
export async function connectRedis(
  options: RedisOptions,
  onProblem: (message: string) => void,
): Promise<RedisConnection> {
  const report = createReporter(onProblem);
  const clients: RedisClient[] = [];
  let problem: Error | undefined;
  let isClosed = false;

  function open(subscribes: boolean): RedisClient {
    const client = createClient(options, { subscribes });
    const take = (error: Error & { readonly lastNodeError?: Error | null }): void => {
      problem = error.lastNodeError ?? error;
      report(problem.message);
    };
    client.on('error', take);
    client.on('node error', take);
    clients.push(client);
    return client;
  }

  async function withRetries<T>(work: () => Promise<T>, limitMs = outageLimitMs): Promise<T> {
    try {
      return await retried(work, { limitMs, isFinal: (error) => isClosed || !isPassing(error) });
    } catch (error) {
      throw withoutArguments(error);
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await Promise.all(clients.map((client) => client.quit().catch(() => client.disconnect())));
  }

  const client = open(false);
  const returns = new Set<() => void>();
  const tellReturn = (): void => {
    for (const listener of returns) listener();
  };
  client.on('ready', tellReturn);
  client.on('+node', (node: Redis) => node.on('ready', tellReturn));
  function onReturn(listener: () => void): () => void {
    returns.add(listener);
    return () => returns.delete(listener);
  }
  try {
    await withRetries(async () => {
      // What the server has against us is told to the client's connection, not to its commands.
      if (problem !== undefined && !isPassing(problem)) throw problem;
      await client.ping();
    });
  } catch (error) {
    client.disconnect();
    const nodes = options.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
    throw new Error(`no connection to Redis at ${nodes}: ${(problem ?? (error as Error)).message}`);
  }
  return { client, options, withRetries, onReturn, newSubscriber: () => open(true), close };
}

const repeatAfterMs = 60_000;
const maxRemembered = 100;

/** Passes on each problem at most once a minute: an outage repeats the same few many times a second. */
function createReporter(onProblem: (message: string) => void): (message: string) => void {
  const reportedAtMs = new Map<string, number>();
  return (message) => {
    const nowMs = performance.now();
    const lastMs = reportedAtMs.get(message);
    if (lastMs !== undefined && nowMs - lastMs < repeatAfterMs) return;
    if (reportedAtMs.size === maxRemembered) reportedAtMs.clear();
    reportedAtMs.set(message, nowMs);
    onProblem(`redis: ${message}`);
  };
}
