/**
 * The routes of replays: which events recorded locations would have caused with proposed geofences or settings.
 *
 * Input: requests with a secret key. Output: a process that reads the log, and its results. No configuration is
 * changed, and no event is published.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { ApiDependencies } from '../api/dependencies.js';
import { limitParameter, pageMeta, readLimit } from '../api/lists.js';
import { callerOf } from '../http/access/authority.js';
import { answerOf, type ById, bodyFields, described, found, idParameter, listOf, success } from '../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../http/fields/reader.js';
import { schemaOf } from '../http/fields/table.js';
import type { SecretCipher } from '../pipeline/encryption.js';
import { isId } from '../schemas/ids.js';
import { Id, Timestamp } from '../schemas/json/common.js';
import { Event } from '../schemas/json/user.js';
import { isoTime } from '../schemas/wire/common.js';
import { erasedIn } from './erased.js';
import type { FoundIn } from './job.js';
import type { Replays } from './replays.js';
import { readReplay, replayFields } from './request.js';
import type { ReplayRecord } from './stored-replays.js';

interface ReplayDependencies extends Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'> {
  readonly secretCipher: SecretCipher;
  readonly replays: Replays;
}

const tag = 'replays';
const config = { authority: 'secret', limit: 'management' } as const;

const count = Type.Integer({ minimum: 0 });
const Counts = Type.Object(
  { both: count, replay: count, record: count },
  { description: 'In both, only in the replay, only on record' },
);
const Transitions = Type.Object({ entered: Counts, left: Counts, dwelled: Counts });

const Replay = Type.Object(
  {
    _id: Id,
    createdAt: Timestamp,
    finishedAt: Type.Optional(Timestamp),
    status: Type.Enum(['running', 'completed', 'failed', 'cancelled']),
    message: Type.Optional(Type.String({ description: 'Why it failed' })),
    from: Timestamp,
    to: Timestamp,
    recordsRead: Type.Integer({ description: 'Locations of all projects, with the warm-up' }),
    recordsTotal: Type.Integer(),
    summary: Type.Optional(
      Type.Object({
        locations: Type.Object({ applied: count, repeat: count, stale: count }),
        total: Transitions,
        places: Type.Array(
          Type.Object({ kind: Type.Enum(['geofence', 'beacon']), name: Type.String(), transitions: Transitions }),
          { description: 'Geofences and beacons with events, those with the most differences first; at most 200' },
        ),
        firstLocationEvents: Type.Integer({
          description: 'Events of the replay that the first stored location of a device caused: it may be wrong',
        }),
      }),
    ),
    kept: Type.Object({ both: count, replay: count, record: count }, { description: 'Events that can be listed' }),
  },
  { $id: 'Replay', description: 'Recorded locations, evaluated with proposed geofences or settings' },
);

const replayJson = (record: ReplayRecord): Static<typeof Replay> => ({
  _id: record._id,
  createdAt: isoTime(record.createdAt),
  ...(record.finishedAt !== null && { finishedAt: isoTime(record.finishedAt) }),
  status: record.status,
  ...(record.message !== null && { message: record.message }),
  from: isoTime(record.fromMs),
  to: isoTime(record.toMs),
  recordsRead: record.recordsRead,
  recordsTotal: record.recordsTotal,
  ...(record.summary && { summary: record.summary as NonNullable<Static<typeof Replay>['summary']> }),
  kept: record.kept,
});

const eventsParameters = Type.Object({
  foundIn: Type.Optional(
    Type.Enum(['replay', 'record', 'both'], { default: 'replay', description: 'Where the event was found' }),
  ),
  ...limitParameter,
  cursor: Type.Optional(Type.String({ description: '`meta.cursor` of the page before' })),
});

function readEventsQuery(query: RawFields): Outcome<{ foundIn: FoundIn; limit: number; from: number }> {
  const reader = new FieldReader(query);
  const foundIn = reader.choice('foundIn', ['replay', 'record', 'both'] as const) ?? 'replay';
  const limit = readLimit(reader);
  const from = reader.integer('cursor', { minimum: 0 }) ?? 0;
  return reader.outcome(() => ({ foundIn, limit, from }));
}

const one = answerOf({ replay: Replay });
const maxBodyBytes = 4 * 2 ** 20;

/** Finds the replay that a request names. Throws `not_found` if there is none. */
type FindReplay = (request: FastifyRequest<ById>) => Promise<ReplayRecord>;

function addStartingRoute(app: FastifyInstance, dependencies: ReplayDependencies): void {
  const { replays, configuration, writer, clock } = dependencies;
  app.post('/v1/replays', {
    config,
    bodyLimit: maxBodyBytes,
    schema: described({
      operationId: 'startReplay',
      tag,
      summary: 'Replay recorded locations with proposed geofences or settings',
      description:
        'Changes nothing and publishes nothing. A project runs one replay at a time. Progress and events are kept ' +
        'for an hour. What is erased is left out. A later erasure in the environment ends the lists of events.',
      body: schemaOf(replayFields),
      status: 202,
      answer: one,
      failures: [409],
    }),
    handler: async (request, reply) => {
      const { project: id, environment } = callerOf(request);
      const scope = { project: id, environment };
      // What was erased through another node must be left out.
      await writer.catchUp();
      const project = found(configuration.project(id), 'project');
      const erased = erasedIn(dependencies, scope);
      const job = accepted(readReplay(project, scope, erased, bodyFields(request.body), clock()));
      const replay = replayJson(await replays.start(job));
      reply.code(202);
      return { meta: { code: 202 }, replay };
    },
  });
}

function addResultRoutes(app: FastifyInstance, { replays }: ReplayDependencies, findReplay: FindReplay): void {
  app.get<ById>('/v1/replays/:id', {
    config,
    schema: described({
      operationId: 'getReplay',
      tag,
      summary: 'Get the progress and the result of a replay',
      params: idParameter,
      answer: one,
      failures: [404],
    }),
    handler: async (request) => ({ meta: success, replay: replayJson(await findReplay(request)) }),
  });

  app.get<ById>('/v1/replays/:id/events', {
    config,
    schema: described({
      operationId: 'listReplayEvents',
      tag,
      summary: 'List events of a replay',
      description:
        'In the order of the log: those of a device in order. At most 5,000 of each kind are kept. Events are ' +
        'without metadata.',
      params: idParameter,
      querystring: eventsParameters,
      answer: listOf(
        { events: Type.Array(Type.Object({ firstLocation: Type.Boolean(), event: Event })) },
        { cursor: true },
      ),
      failures: [404],
    }),
    handler: async (request) => {
      const { foundIn, limit, from } = accepted(readEventsQuery(request.query as RawFields));
      const record = await findReplay(request);
      const events = await replays.events(record, foundIn, from, limit);
      const next = from + events.length;
      const hasMore = next < record.kept[foundIn] && events.length > 0;
      return {
        meta: pageMeta(hasMore, `${next}`),
        events: events.map((text) => JSON.parse(text) as { firstLocation: boolean; event: Static<typeof Event> }),
      };
    },
  });
}

function addCancellingRoute(app: FastifyInstance, { replays }: ReplayDependencies, findReplay: FindReplay): void {
  app.delete<ById>('/v1/replays/:id', {
    config,
    schema: described({
      operationId: 'cancelReplay',
      tag,
      summary: 'Cancel a replay',
      description: 'It ends within a second. One that has ended stays as it is.',
      params: idParameter,
      answer: answerOf(),
      failures: [404],
    }),
    handler: async (request) => {
      await replays.cancel(await findReplay(request));
      return { meta: success };
    },
  });
}

/** Creates the plugin of the routes. Closing the server ends the replays that run on this node. */
export const replayRoutes =
  (dependencies: ReplayDependencies): FastifyPluginAsync =>
  async (app) => {
    const { replays } = dependencies;
    app.addHook('preClose', () => replays.close());
    const findReplay: FindReplay = async (request) => {
      const { id } = request.params;
      // A longer text is no key of what is kept.
      return found(isId(id) ? await replays.find(callerOf(request), id) : undefined, 'replay');
    };
    addStartingRoute(app, dependencies);
    addResultRoutes(app, dependencies, findReplay);
    addCancellingRoute(app, dependencies, findReplay);
  };
