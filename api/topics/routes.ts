/** Topic `events` over HTTP: what a Kafka consumer would read, so that one can be written before there is a Kafka. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import type { Caller } from '../../http/access/keys.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { Event } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { answerOf, described, success } from '../describe.js';
import { limitParameter } from '../lists.js';
import type { Serialize } from '../serialize.js';
import type { Followers } from '../stream/followers.js';
import { encodePosition } from '../stream/position.js';
import { keyName, scopeName } from '../stream/scopes.js';
import { boundsOf } from '../stream/start.js';
import { maxWaitMs, readTopicQuery, type TopicQuery } from './query.js';
import { isAllRead, placesFrom, type Reader, type Reading, readTopic } from './reading.js';

const tag = 'events';
const config = { authority: 'secret or admin', limit: 'management' } as const;

const parameters = Type.Object({
  partition: Type.Optional(Type.Integer({ minimum: 0, description: 'Only this one' })),
  from: Type.Optional(
    Type.String({
      default: 'earliest',
      description: 'An offset, `earliest`, `latest`, or the `next` of the answer before',
    }),
  ),
  ...limitParameter,
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitMs,
      default: 0,
      description: 'How long to wait for a record when there is none',
    }),
  ),
});

const Offset = Type.Integer({ minimum: 0 });
const Bounds = {
  partition: Type.Integer({ minimum: 0 }),
  first: Type.Integer({ minimum: 0, description: 'The oldest offset that is held' }),
  end: Type.Integer({ minimum: 0, description: 'The offset after the newest' }),
};

const Record = Type.Object({
  partition: Type.Integer({ minimum: 0 }),
  offset: Offset,
  key: Type.String({ description: 'project/environment/device' }),
  timestamp: Type.Integer({ description: 'Of the append, epoch milliseconds' }),
  schemaId: Type.Union([Type.Integer(), Type.Null()]),
  value: Type.String({ description: 'Avro in the Confluent wire format, base64' }),
  event: Type.Union([Event, Type.Null()], { description: 'The value decoded; null when it can not be' }),
});

const answer = answerOf({
  topic: Type.String(),
  next: Type.String({ description: 'The `from` that goes on from here' }),
  partitions: Type.Array(
    Type.Object({
      ...Bounds,
      next: Offset,
      missing: Type.Optional(Type.Integer({ description: 'Records that were asked for and are no longer held' })),
    }),
  ),
  records: Type.Array(Record),
});

function answerFor({ places, records }: Reading, { partition }: TopicQuery) {
  const offsets = places.map(({ next }) => next);
  return {
    meta: success,
    topic: topics.events,
    next: partition === null ? encodePosition(offsets) : `${offsets[0]}`,
    partitions: places.map(({ missing, ...place }) => ({ ...place, ...(missing > 0 && { missing }) })),
    records,
  };
}

export const topicRoutes =
  ({ log }: Pick<ApiDependencies, 'log'>, followers: Followers, serialize: Serialize): FastifyPluginAsync =>
  async (app) => {
    /** Reads again whenever the topic grows, until there is something, or the answer is due without. */
    async function wait(name: string, reading: Reading, reader: Reader, due: AbortController): Promise<Reading> {
      const place = await followers.join(name);
      place.closing.addEventListener('abort', () => due.abort());
      const isDue = new Promise((resolve) => due.signal.addEventListener('abort', resolve));
      let latest = reading;
      try {
        while (latest.records.length === 0 && !due.signal.aborted && !place.closing.aborted) {
          const moved = place.tailer.moved();
          latest = await readTopic(log, serialize, latest.places, reader);
          if (latest.records.length === 0 && isAllRead(latest.places)) await Promise.race([moved, isDue]);
        }
        return latest;
      } finally {
        place.leave();
      }
    }

    async function read(caller: Caller | null, query: TopicQuery, due: AbortController): Promise<Reading> {
      const reader = { scope: caller === null ? undefined : scopeName(caller), limit: query.limit };
      const reading = await readTopic(log, serialize, await placesFrom(log, query.from, query.partition), reader);
      if (reading.records.length > 0 || query.waitMs === 0) return reading;
      const timer = setTimeout(() => due.abort(), query.waitMs);
      return wait(caller === null ? 'admin' : keyName(caller), reading, reader, due).finally(() => clearTimeout(timer));
    }

    app.get('/v1/topics', {
      config,
      schema: described({
        operationId: 'listTopics',
        tag,
        summary: 'List the topics that can be read',
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
          'Records as a Kafka client gets them: all with the administrator key, those of its project and environment with a secret key. ' +
          'Where `next` of a partition is less than its `end` there is more, even if no record was answered.',
        querystring: parameters,
        answer,
        failures: [400],
      }),
      handler: async (request, reply) => {
        const query = accepted(readTopicQuery(request.query as RawFields, log.partitions(topics.events)));
        const due = new AbortController();
        reply.raw.once('close', () => due.abort());
        return answerFor(await read(request.caller, query, due), query);
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
          schema: Type.Any({ description: 'Avro, whole in itself' }),
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
