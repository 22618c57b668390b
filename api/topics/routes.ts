/** Serves topic `events` over HTTP: the records that a Kafka consumer would get, also for nodes without Kafka. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Caller } from '../../http/access/keys.js';
import { confirmStillAuthorized, endingOf } from '../../http/access/revocation.js';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { topics } from '../../pipeline/ports.js';
import { scopeName } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { Event } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { limitParameter } from '../lists.js';
import type { Serialize } from '../serialize.js';
import { type Followers, keyName } from '../stream/followers.js';
import { encodePosition } from '../stream/position.js';
import { boundsOf } from '../stream/start.js';
import { maxWaitMs, readTopicQuery, type TopicQuery } from './query.js';
import { advanced, isAllRead, type Reader, type Reading, readTopic, startPartitions } from './reading.js';

const tag = 'events';
const config = { authority: 'secret or admin', limit: 'management' } as const;

const parameters = Type.Object({
  partition: Type.Optional(Type.Integer({ minimum: 0, description: 'Reads only this partition' })),
  from: Type.Optional(
    Type.String({
      default: 'earliest',
      description: 'An offset, `earliest`, `latest`, or the `next` of the previous response',
    }),
  ),
  ...limitParameter,
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitMs,
      default: 0,
      description: 'How long to wait for a record if there is none',
    }),
  ),
});

const Offset = Type.Integer({ minimum: 0 });
const Bounds = {
  partition: Type.Integer({ minimum: 0 }),
  first: Type.Integer({ minimum: 0, description: 'Oldest offset that is held' }),
  end: Type.Integer({ minimum: 0, description: 'Offset after the newest record' }),
};

const Record = Type.Object({
  partition: Type.Integer({ minimum: 0 }),
  offset: Offset,
  key: Type.String({ description: 'project/environment/device' }),
  timestamp: Type.Integer({ description: 'Time of the append, epoch milliseconds' }),
  schemaId: Type.Union([Type.Integer(), Type.Null()]),
  value: Type.String({ description: 'Avro in the Confluent wire format, base64' }),
  event: Type.Union([Event, Type.Null()], { description: 'The decoded value; null if it cannot be decoded' }),
});

const answer = answerOf({
  topic: Type.String(),
  next: Type.String({ description: 'Value of `from` for the next request' }),
  partitions: Type.Array(
    Type.Object({
      ...Bounds,
      next: Offset,
      missing: Type.Optional(Type.Integer({ description: 'Requested records that are no longer held' })),
    }),
  ),
  records: Type.Array(Record),
});

function answerFor({ partitions, records }: Reading, { partition }: TopicQuery) {
  const offsets = partitions.map(({ next }) => next);
  return {
    meta: success,
    topic: topics.events,
    next: partition === null ? encodePosition(offsets) : `${offsets[0]}`,
    partitions: partitions.map(({ missing, ...rest }) => ({ ...rest, ...(missing > 0 && { missing }) })),
    records,
  };
}

/**
 * Serves GET /v1/topics, /v1/topics/events and /v1/topics/events/schema. A read waits for a record at most as long as
 * it asks for.
 */
export const topicRoutes =
  ({ log }: Pick<ApiDependencies, 'log'>, followers: Followers, serialize: Serialize): FastifyPluginAsync =>
  async (app) => {
    /** Reads again when the topic has a record for the client, and once more when the response is due. */
    async function wait(
      caller: Caller | null,
      reading: Reading,
      reader: Reader,
      due: AbortController,
    ): Promise<Reading> {
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

    async function read(request: FastifyRequest, reply: FastifyReply, query: TopicQuery): Promise<Reading> {
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
    }

    app.get('/v1/topics', {
      config,
      schema: described({
        operationId: 'listTopics',
        tag,
        summary: 'List the readable topics',
        answer: answerOf({
          topics: Type.Array(
            Type.Object({
              topic: Type.String(),
              schemaId: Type.Integer(),
              partitions: Type.Array(Type.Object(Bounds)),
            }),
          ),
        }),
      }),
      handler: async () => ({
        meta: success,
        topics: [{ topic: topics.events, schemaId: codecs.event.schemaId, partitions: await boundsOf(log) }],
      }),
    });

    app.get('/v1/topics/events', {
      config,
      schema: described({
        operationId: 'readEventsTopic',
        tag,
        summary: 'Read topic events',
        description:
          'Records as a Kafka client gets them: all of them with the admin API key; those of its project and ' +
          'environment with a secret key. If `next` of a partition is less than its `end` there is more, even ' +
          'without a record in the response.',
        querystring: parameters,
        answer,
        failures: [400],
      }),
      handler: async (request, reply) => {
        const query = accepted(readTopicQuery(request.query as RawFields, log.partitions(topics.events)));
        return answerFor(await read(request, reply, query), query);
      },
    });

    app.get('/v1/topics/events/schema', {
      config,
      schema: described({
        operationId: 'getEventsTopicSchema',
        tag,
        summary: 'Get the Avro schema of topic events',
        answer: answerOf({
          topic: Type.String(),
          schemaId: Type.Integer(),
          schema: Type.Any({ description: 'Self-contained Avro schema' }),
        }),
      }),
      handler: async () => ({
        meta: success,
        topic: topics.events,
        schemaId: codecs.event.schemaId,
        schema: codecs.event.type.schema({ exportAttrs: true }),
      }),
    });
  };
