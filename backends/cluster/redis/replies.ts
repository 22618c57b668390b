/**
 * Replies between nodes over pub/sub, with a channel per inbox. Best effort: a reply without a receiver is lost. A
 * reply whose acknowledgement was lost is published again, and arrives twice if the first one was published too.
 */
import type { Redis } from 'ioredis';
import type { Inbox, Replies } from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import { listen } from './channel.js';
import { mastersOf } from './client.js';
import type { RedisConnection } from './connection.js';
import { packStrings, unpackStrings } from './packed-strings.js';

/** Length at which a message is sent before the end of the turn, in UTF-16 units. */
const maxMessageLength = 1 << 20;
/** Limit of all messages in flight, in UTF-16 units. Further messages are dropped. */
const maxInFlightLength = 16 << 20;

const channelOf = (redis: RedisConnection, address: string): string => `${redis.options.prefix}replies.${address}`;

/** Counts the open inboxes of all processes. */
export async function countInboxes(redis: RedisConnection): Promise<number> {
  const pattern = channelOf(redis, '*');
  const count = async (master: Redis): Promise<number> => {
    const channels = await redis.withRetries(() => master.call('PUBSUB', 'SHARDCHANNELS', pattern));
    return (channels as string[]).length;
  };
  return (await Promise.all(mastersOf(redis.client).map(count))).reduce((sum, each) => sum + each, 0);
}

/** Request, body, request, body, … for one address. */
interface Message {
  readonly texts: string[];
  length: number;
}

/** Creates the sender. Replies of one turn of the event loop to one address share a message. */
export function createRedisReplies(redis: RedisConnection): Replies {
  const messages = new Map<string, Message>();
  let inFlightLength = 0;

  function post(address: string, { texts, length }: Message): void {
    messages.delete(address);
    if (inFlightLength + length > maxInFlightLength) return;
    inFlightLength += length;
    // A client whose reply is lost gets its answer without events, after a time limit.
    redis.client
      .spublish(channelOf(redis, address), packStrings(texts))
      .catch(() => {})
      .finally(() => {
        inFlightLength -= length;
      });
  }

  function postAll(): void {
    for (const [address, message] of messages) post(address, message);
  }

  return {
    send(replyTo, body) {
      const addressEnd = replyTo.indexOf('/');
      const address = replyTo.slice(0, addressEnd);
      let message = messages.get(address);
      if (message === undefined) {
        if (messages.size === 0) setImmediate(postAll);
        message = { texts: [], length: 0 };
        messages.set(address, message);
      }
      message.texts.push(replyTo.slice(addressEnd + 1), body);
      message.length += replyTo.length + body.length;
      if (message.length >= maxMessageLength) post(address, message);
    },
  };
}

/**
 * Creates the receiver. Every start of the process has a new address, so that replies to requests of an earlier run,
 * which are sent again when the log is read again, reach nobody.
 */
export async function createRedisInbox(redis: RedisConnection): Promise<Inbox> {
  const address = freshId();
  let listener: (request: string, body: string) => void = () => {};

  await listen(redis, channelOf(redis, address), (message) => {
    const texts = unpackStrings(message);
    for (let i = 0; i + 1 < texts.length; i += 2) listener(texts[i]!, texts[i + 1]!);
  });

  return {
    address,
    onReply(onReply) {
      listener = onReply;
    },
  };
}
