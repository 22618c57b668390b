/** Clients without retries. A test that waits for a failure of a server that hangs passes shorter limits. */
import { Redis, type RedisOptions } from 'ioredis';
import { type Admin, Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import { stopIdleTimers } from '../../backends/cluster/kafka/connection/kafkajs-internals.js';

/** The start of all shared services fails with one command: it took 20 s on a machine with a load of 40. */
const timeoutMs = 60_000;

/** How a client of Redis connects. */
export type RedisConnection = Omit<RedisOptions, 'replyMapping'>;

/** Connects for the time of the action. Rejects with the reason if the connection fails. */
export async function withRedis<T>(connection: RedisConnection, action: (client: Redis) => Promise<T>): Promise<T> {
  const limits = { lazyConnect: true, retryStrategy: () => null, connectTimeout: timeoutMs, commandTimeout: timeoutMs };
  const client = new Redis({ ...limits, ...connection });
  // A command reports only that the connection closed; this reports why.
  let failure: Error | undefined;
  client.on('error', (error) => {
    failure = error;
  });
  try {
    return await action(client);
  } catch (error) {
    throw failure ?? error;
  } finally {
    client.disconnect();
  }
}

/** Returns a client of kafkajs that logs nothing. */
export function silentKafka(config: KafkaConfig): Kafka {
  stopIdleTimers();
  return new Kafka({ logLevel: logLevel.NOTHING, ...config });
}

/** Connects an admin client for the time of the action. */
export async function withKafka<T>(
  config: KafkaConfig,
  action: (admin: Admin, client: Kafka) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeout: timeoutMs, requestTimeout: timeoutMs, retry: { retries: 0 } };
  const client = silentKafka({ ...limits, ...config });
  const admin = client.admin();
  try {
    await admin.connect();
    return await action(admin, client);
  } finally {
    await admin.disconnect();
  }
}
