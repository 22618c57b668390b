/**
 * A channel that is heard for as long as the connection is open: sharded, so that in a cluster only the node that has
 * it is bothered.
 *
 * A subscription may be deaf without knowing: its server may have vanished without a word, and a cluster's slots may
 * have moved. So who listens also sends itself a beat, and subscribes anew when it doesn't hear it. What is sent
 * meanwhile is lost.
 */
import type { RedisConnection } from './connection.js';

const beat = '';
const beatEveryMs = 5_000;

/** Resolves when messages arrive. Messages are never empty. */
export async function listen(
  { client, newSubscriber, withRetries }: RedisConnection,
  channel: string,
  onMessage: (message: string) => void,
): Promise<void> {
  const subscriber = newSubscriber();
  let isHeard = true;
  subscriber.on('smessage', (_channel: string, message: string) => {
    if (message === beat) isHeard = true;
    else onMessage(message);
  });
  // Subscribing twice is subscribing. After a lost connection the client does it by itself.
  const subscribe = (): Promise<unknown> => withRetries(() => subscriber.ssubscribe(channel) as Promise<unknown>);
  await subscribe();

  const beats = setInterval(() => {
    if (!isHeard && subscriber.status === 'ready') {
      subscriber.disconnect(true);
      subscribe().catch(() => {});
    }
    isHeard = false;
    client.spublish(channel, beat).catch(() => {});
  }, beatEveryMs);
  beats.unref();
  subscriber.once('end', () => clearInterval(beats));
}
