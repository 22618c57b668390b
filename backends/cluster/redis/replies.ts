/**
 * Replies between nodes over pub/sub: each inbox has a channel. Best effort: what can't be sent at once, or isn't
 * heard, is lost.
 */
import type { Redis } from 'ioredis';
import type { Inbox, Replies } from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import { listen } from './channel.js';
import { mastersOf } from './client.js';
import type { RedisConnection } from './connection.js';
import { packTexts, unpackTexts } from './packed-strings.js';

/** A parcel that has grown so large goes without waiting for the turn's end. In UTF-16 units. */
const maxParcelLength = 1 << 20;
/** Sent and unanswered, over all parcels; what comes on top of it is dropped. In UTF-16 units. */
const maxUnansweredLength = 16 << 20;

const channelOf = (redis: RedisConnection, address: string): string => `${redis.options.prefix}replies.${address}`;

/** How many inboxes are open, of all processes. */
export async function countInboxes(redis: RedisConnection): Promise<number> {
  const pattern = channelOf(redis, '*');
  const count = async (master: Redis): Promise<number> => {
    const channels = await redis.withRetries(() => master.call('PUBSUB', 'SHARDCHANNELS', pattern));
    return (channels as string[]).length;
  };
  return (await Promise.all(mastersOf(redis.client).map(count))).reduce((sum, each) => sum + each, 0);
}

/** Request, body, request, body, … for one address. */
interface Parcel {
  readonly texts: string[];
  length: number;
}

/** The sending end. Replies of one turn of the event loop to one address travel as one message. */
export function createRedisReplies(redis: RedisConnection): Replies {
  const parcels = new Map<string, Parcel>();
  let unansweredLength = 0;

  function post(address: string, { texts, length }: Parcel): void {
    parcels.delete(address);
    if (unansweredLength + length > maxUnansweredLength) return;
    unansweredLength += length;
    redis.client
      .spublish(channelOf(redis, address), packTexts(texts))
      .catch(() => {})
      .finally(() => {
        unansweredLength -= length;
      });
  }

  function postAll(): void {
    for (const [address, parcel] of parcels) post(address, parcel);
  }

  return {
    send(replyTo, body) {
      const addressEnd = replyTo.indexOf('/');
      const address = replyTo.slice(0, addressEnd);
      let parcel = parcels.get(address);
      if (parcel === undefined) {
        if (parcels.size === 0) setImmediate(postAll);
        parcel = { texts: [], length: 0 };
        parcels.set(address, parcel);
      }
      parcel.texts.push(replyTo.slice(addressEnd + 1), body);
      parcel.length += replyTo.length + body.length;
      if (parcel.length >= maxParcelLength) post(address, parcel);
    },
  };
}

/**
 * The receiving end. Its address is new with every start of the process, so that replies to requests of an earlier run,
 * which a replay of the log sends again, reach nobody.
 */
export async function createRedisInbox(redis: RedisConnection): Promise<Inbox> {
  const address = freshId();
  let listener: (request: string, body: string) => void = () => {};

  await listen(redis, channelOf(redis, address), (message) => {
    const texts = unpackTexts(message);
    for (let i = 0; i + 1 < texts.length; i += 2) listener(texts[i]!, texts[i + 1]!);
  });

  return {
    address,
    onReply(onReply) {
      listener = onReply;
    },
  };
}
