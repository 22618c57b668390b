/** Clients without retries. A test that waits for a failure of a server that hangs passes shorter limits. */
import { Redis, type RedisOptions } from 'ioredis';
import { type Admin, Kafka, type KafkaConfig, logLevel } from 'kafkajs';

const timeoutMs = 20_000;

export type RedisConnection = Omit<RedisOptions, 'replyMapping'>;

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

export async function withKafka<T>(
  config: KafkaConfig,
  action: (admin: Admin, client: Kafka) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeout: timeoutMs, requestTimeout: timeoutMs, retry: { retries: 0 } };
  const client = new Kafka({ ...limits, logLevel: logLevel.NOTHING, ...config });
  const admin = client.admin();
  try {
    await admin.connect();
    return await action(admin, client);
  } finally {
    await admin.disconnect();
  }
}
