/**
 * A subscription to a sharded pub/sub channel that lasts as long as the connection.
 *
 * A subscription may be dead without notice: its server may have vanished, or the cluster's slots may have moved. So
 * the subscriber publishes a heartbeat to its own channel, and subscribes again when it does not receive it. Messages
 * sent in between are lost.
 */
import type { RedisConnection } from './connection.js';

const heartbeat = '';
const heartbeatIntervalMs = 5_000;

/** Subscribes to the channel. Resolves when the subscription is active. Messages are never empty. */
export async function listen(
  { client, newSubscriber, withRetries }: RedisConnection,
  channel: string,
  onMessage: (message: string) => void,
): Promise<void> {
  const subscriber = newSubscriber();
  let isAlive = true;
  subscriber.on('smessage', (_channel: string, message: string) => {
    if (message === heartbeat) isAlive = true;
    else onMessage(message);
  });
  // Subscribing is idempotent. After a lost connection the client subscribes on its own.
  const subscribe = (): Promise<unknown> => withRetries(() => subscriber.ssubscribe(channel) as Promise<unknown>);
  await subscribe();

  const heartbeats = setInterval(() => {
    if (!isAlive && subscriber.status === 'ready') {
      subscriber.disconnect(true);
      subscribe().catch(() => {});
    }
    isAlive = false;
    client.spublish(channel, heartbeat).catch(() => {});
  }, heartbeatIntervalMs);
  heartbeats.unref();
  subscriber.once('end', () => clearInterval(heartbeats));
}
