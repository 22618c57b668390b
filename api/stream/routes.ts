/** Serves the live stream of events as server-sent events. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { revocationOf } from '../../http/access/revocation.js';
import { sendEventStream } from '../../http/answers/headers.js';
import { contentOf, described } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { isPortError } from '../../pipeline/errors.js';
import { topics } from '../../pipeline/ports.js';
import { scopeName } from '../../pipeline/records/device-key.js';
import type { ApiDependencies } from '../dependencies.js';
import { eventMatcher, filterParameters } from '../events/filters.js';
import type { Serialize } from '../serialize.js';
import { EventStream } from './event-stream.js';
import { type Followers, keyName } from './followers.js';
import { readStreamQuery, type StreamQuery } from './query.js';
import { boundsOf } from './start.js';

/** Bounds of each stream. */
export interface StreamBounds {
  /** Interval of heartbeats, which update the client's position too. */
  readonly heartbeatMs: number;
  /** Unsent bytes beyond which a client is disconnected. */
  readonly maxUnsentBytes: number;
}

/** The bounds of a server. A client that has not taken 1 MiB is cut off, and resumes by its position. */
export const defaultStreamBounds: StreamBounds = { heartbeatMs: 15_000, maxUnsentBytes: 2 ** 20 };

const parameters = Type.Object({
  ...filterParameters,
  from: Type.Optional(
    Type.Enum(['latest', 'earliest'], { default: 'latest', description: 'earliest: all events that the topic holds' }),
  ),
  lastEventId: Type.Optional(
    Type.String({ description: 'Replaces the header Last-Event-ID, for tools that cannot set it' }),
  ),
});

const answer = contentOf(
  { 'text/event-stream': Type.String() },
  'Messages with `event` (its type), `data` (the event as JSON) and `id` (to reconnect with)',
);

/** Serves GET /v1/events/stream. A stream resumes after the position in `Last-Event-ID`. */
export const streamRoutes =
  (
    { log, streams: observer }: Pick<ApiDependencies, 'log' | 'streams'>,
    followers: Followers,
    serialize: Serialize,
    { heartbeatMs, maxUnsentBytes }: StreamBounds,
  ): FastifyPluginAsync =>
  async (app) => {
    const streams = new Set<EventStream>();
    observer?.slow(() => [...streams].filter(({ isSlow }) => isSlow).length);

    async function open(
      request: FastifyRequest,
      { filters, from }: StreamQuery,
      revocation: AbortSignal,
    ): Promise<EventStream> {
      const caller = callerOf(request);
      const position = from === 'earliest' ? (await boundsOf(log)).map(({ first }) => first) : from;
      const membership = await followers.join(caller.project, keyName(caller));
      const stream = new EventStream({
        log,
        tailer: membership.tailer,
        serialize,
        scope: scopeName(caller),
        matches: eventMatcher(filters),
        from: position === 'latest' ? undefined : position,
        maxUnsentBytes,
        onDropped: () => {
          observer?.dropped();
          const about = { address: request.ip, key: caller.keyHint };
          request.log.debug(about, 'a stream was closed, because its client reads too slowly');
        },
      });
      streams.add(stream);
      for (const ending of [membership.closing, revocation]) ending.addEventListener('abort', () => stream.end());
      const heart = setInterval(() => stream.beat(), heartbeatMs);
      stream.output.once('close', () => {
        clearInterval(heart);
        streams.delete(stream);
        membership.leave();
      });
      stream.start().catch((error: unknown) => {
        if (!isPortError(error)) throw error;
        // The log is out of reach. The client reconnects with its last id.
        stream.end();
      });
      if (membership.closing.aborted || revocation.aborted) stream.end();
      return stream;
    }

    app.get('/v1/events/stream', {
      config: { authority: 'secret', limit: 'management' },
      schema: described({
        operationId: 'streamEvents',
        tag: 'events',
        summary: 'Stream events as they happen',
        description:
          'Server-sent events. With `Last-Event-ID` a stream resumes where another ended, without missing ' +
          'or repeated events. A message `gap` reports events that the topic no longer holds. All filters must match.',
        querystring: parameters,
        answer,
      }),
      handler: async (request: FastifyRequest, reply) => {
        const query = accepted(
          readStreamQuery(request.query as RawFields, request.headers, log.partitions(topics.events)),
        );
        return sendEventStream(reply, async () => (await open(request, query, revocationOf(request, reply))).output);
      },
    });
  };
