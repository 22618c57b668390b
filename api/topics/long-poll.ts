/** Reads topic `events` for a request, and waits for a record if there is none. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../http/access/keys.js';
import { confirmStillAuthorized, endingOf } from '../../http/access/revocation.js';
import type { Log } from '../../pipeline/ports.js';
import { scopeName } from '../../pipeline/records/device-key.js';
import type { Serialize } from '../serialize.js';
import { type Followers, keyName } from '../stream/followers.js';
import type { TopicQuery } from './query.js';
import { advanced, isAllRead, type Reader, type Reading, readTopic, startPartitions } from './reading.js';

type LongPoll = (request: FastifyRequest, reply: FastifyReply, query: TopicQuery) => Promise<Reading>;

/**
 * Creates the read of a request. It waits for a record at most as long as the query asks for, and rejects when the
 * request is no longer authorized afterwards.
 */
export function createLongPoll(log: Log, followers: Followers, serialize: Serialize): LongPoll {
  /** Reads again when the topic has a record for the client, and once more when the response is due. */
  async function wait(caller: Caller | null, reading: Reading, reader: Reader, due: AbortController): Promise<Reading> {
    const membership = await followers.join(caller?.project ?? null, caller === null ? 'admin' : keyName(caller));
    membership.closing.addEventListener('abort', () => due.abort());
    const isDue = new Promise((resolve) => due.signal.addEventListener('abort', resolve));
    let latest = reading;
    try {
      while (latest.records.length === 0 && !due.signal.aborted) latest = await readOrWait(latest);
      return latest.records.length > 0 ? latest : await readTopic(log, serialize, latest.partitions, reader);
    } finally {
      membership.leave();
    }

    /** Reads what there is. If there is nothing, skips the records of others until there is a record. */
    async function readOrWait({ partitions }: Reading): Promise<Reading> {
      const watch = membership.tailer.watch(reader.scope);
      try {
        const found = await readTopic(log, serialize, partitions, reader);
        if (found.records.length > 0 || !isAllRead(found.partitions)) return found;
        await Promise.race([watch.heard, isDue]);
        return { ...found, partitions: advanced(found.partitions, watch.quietUntil()) };
      } finally {
        watch.end();
      }
    }
  }

  return async (request, reply, query) => {
    const { caller } = request;
    const ending = endingOf(request, reply);
    const reader = { scope: caller === null ? undefined : scopeName(caller), limit: query.limit, signal: ending };
    const reading = await readTopic(log, serialize, await startPartitions(log, query.from, query.partition), reader);
    if (reading.records.length > 0 || query.waitMs === 0) return reading;
    const due = new AbortController();
    const timer = setTimeout(() => due.abort(), query.waitMs);
    ending.addEventListener('abort', () => due.abort());
    if (ending.aborted) due.abort();
    const latest = await wait(caller, reading, reader, due).finally(() => clearTimeout(timer));
    await confirmStillAuthorized(request);
    return latest;
  };
}
