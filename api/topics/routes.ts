/** Serves topic `events` over HTTP: the records that a Kafka consumer would get, also for nodes without Kafka. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { Event } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { limitParameter } from '../lists.js';
import type { Serialize } from '../serialize.js';
import type { Followers } from '../stream/followers.js';
import { encodePosition } from '../stream/position.js';
import { boundsOf } from '../stream/start.js';
import { createLongPoll } from './long-poll.js';
import { maxWaitMs, readTopicQuery, type TopicQuery } from './query.js';
import type { Reading } from './reading.js';

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
    const read = createLongPoll(log, followers, serialize);

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
