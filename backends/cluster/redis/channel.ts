/**
 * A subscription to a sharded pub/sub channel that lasts as long as the connection.
 *
 * A subscription may be dead without notice: its server may have vanished, or the cluster's slots may have moved. So
 * the subscriber publishes a heartbeat to its own channel. When it does not receive it, another client subscribes in
 * its place: ioredis never subscribes again once it was disconnected while it connected to a node. Messages sent in
 * between are lost.
 */
import type { RedisClient } from './client.js';
import type { RedisConnection } from './connection.js';

const heartbeat = '';
const heartbeatIntervalMs = 5_000;

/** Subscribes to the channel. Resolves when the subscription is active. Messages are never empty. */
export async function listen(
  { client, newSubscriber, withRetries }: RedisConnection,
  channel: string,
  onMessage: (message: string) => void,
): Promise<void> {
  let isAlive = true;
  let heartbeats: NodeJS.Timeout | undefined;
  let subscriber = open();

  function open(): RedisClient {
    const opened = newSubscriber();
    opened.on('smessage', (_channel: string, message: string) => {
      if (message === heartbeat) isAlive = true;
      else onMessage(message);
    });
    opened.once('end', () => {
      if (opened === subscriber) clearInterval(heartbeats);
    });
    return opened;
  }

  /** Subscribes, unless the client is replaced meanwhile. After a lost connection the client subscribes on its own. */
  function subscribe(): Promise<void> {
    const own = subscriber;
    return withRetries(async () => {
      if (own === subscriber) await own.ssubscribe(channel);
    });
  }

  await subscribe();
  heartbeats = setInterval(() => {
    if (!isAlive && subscriber.status === 'ready') {
      const deaf = subscriber;
      subscriber = open();
      deaf.disconnect();
      // The next check opens another one.
      subscribe().catch(() => {});
    }
    isAlive = false;
    // A heartbeat that is lost counts as not heard.
    client.spublish(channel, heartbeat).catch(() => {});
  }, heartbeatIntervalMs);
  heartbeats.unref();
}
