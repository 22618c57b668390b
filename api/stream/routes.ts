/** Serves the live stream of events as server-sent events. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import type { Caller } from '../../http/access/keys.js';
import { roleIn, type Session } from '../../http/access/sessions.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { topics } from '../../pipeline/ports.js';
import type { ApiDependencies } from '../dependencies.js';
import { described } from '../describe.js';
import { eventMatcher, filterParameters } from '../events/filters.js';
import type { Serialize } from '../serialize.js';
import { EventStream } from './event-stream.js';
import type { Followers } from './followers.js';
import { readStreamQuery, type StreamQuery } from './query.js';
import { keyName, scopeName } from './scopes.js';
import { boundsOf } from './start.js';

const heading = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

export interface StreamBounds {
  /**
   * Interval of heartbeats, which update the client's position too. Streams of a revoked key or a session that has
   * ended end within it.
   */
  readonly heartbeatMs: number;
  /** Unsent bytes beyond which a client is disconnected. */
  readonly maxUnsentBytes: number;
}

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

const answer = {
  description: 'Messages with `event` (its type), `data` (the event as JSON) and `id` (to reconnect with)',
  content: { 'text/event-stream': { schema: Type.String() } },
} as unknown as TSchema;

/** Creates a check whether the caller's API key still exists. */
function createKeyCheck(
  configuration: ConfigurationReader,
  { project, environment, kind, keyHint }: Caller,
): () => Promise<boolean> {
  const keys = () => configuration.project(project)?.keys ?? [];
  const key = keys().find((each) => each.environment === environment && each.kind === kind && each.hint === keyHint);
  return async () => keys().some(({ sha256 }) => sha256 === key?.sha256);
}

/** Creates a check whether the session is open and its account still a member of the project. */
function createSessionCheck(
  configuration: ConfigurationReader,
  { project: id }: Caller,
  session: Session,
): () => Promise<boolean> {
  return async () => {
    const project = configuration.project(id);
    return project !== undefined && roleIn(session, project) !== undefined && (await session.isOpen());
  };
}

export const streamRoutes =
  (
    { log, configuration, streams: observer }: Pick<ApiDependencies, 'log' | 'configuration' | 'streams'>,
    followers: Followers,
    serialize: Serialize,
    { heartbeatMs, maxUnsentBytes }: StreamBounds,
  ): FastifyPluginAsync =>
  async (app) => {
    const streams = new Set<EventStream>();
    observer?.slow(() => [...streams].filter(({ isSlow }) => isSlow).length);

    async function open(request: FastifyRequest, { filters, from }: StreamQuery): Promise<EventStream> {
      const caller = callerOf(request);
      const mayRead =
        request.session === null
          ? createKeyCheck(configuration, caller)
          : createSessionCheck(configuration, caller, request.session);
      const position = from === 'earliest' ? (await boundsOf(log)).map(({ first }) => first) : from;
      const membership = await followers.join(keyName(caller));
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
      membership.closing.addEventListener('abort', () => stream.end());
      const heart = setInterval(() => {
        mayRead().then(
          (isAllowed) => (isAllowed ? stream.beat() : stream.end()),
          // During an outage nobody knows. The client resumes.
          () => stream.end(),
        );
      }, heartbeatMs);
      stream.output.once('close', () => {
        clearInterval(heart);
        streams.delete(stream);
        membership.leave();
      });
      void stream.start();
      if (membership.closing.aborted) stream.end();
      return stream;
    }

    app.get('/v1/events/stream', {
      config: { authority: 'secret', limit: 'management' },
      // A HEAD request would open a stream that never ends.
      exposeHeadRoute: false,
      schema: described({
        operationId: 'streamEvents',
        tag: 'events',
        summary: 'Stream events as they happen',
        description:
          'Server-sent events. With `Last-Event-ID` a stream resumes where another ended, without missing ' +
          'or repeated events. A message `gap` reports events that the topic no longer holds. All filters must match.',
        querystring: parameters,
        answer,
        failures: [400],
      }),
      handler: async (request: FastifyRequest, reply) => {
        const query = accepted(
          readStreamQuery(request.query as RawFields, request.headers, log.partitions(topics.events)),
        );
        const { output } = await open(request, query);
        return reply.headers(heading).send(output);
      },
    });
  };
