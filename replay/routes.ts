/**
 * The routes of replays: which events recorded locations would have caused with proposed geofences or settings.
 *
 * Input: requests with a secret key. Output: a process that reads the log, and its results. No configuration is
 * changed, and no event is published.
 */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { ApiDependencies } from '../api/dependencies.js';
import { type GeofenceInput, readPlainGeofence } from '../api/geofences/fields.js';
import { limitParameter, readLimit } from '../api/lists.js';
import { changeSettings } from '../api/settings/fields.js';
import { callerOf } from '../http/access/authority.js';
import { answerOf, type ById, bodyFields, described, found, idParameter, listOf } from '../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../http/fields/reader.js';
import {
  booleanField,
  dateField,
  field,
  numberField,
  readTable,
  refuseUnknown,
  schemaOf,
} from '../http/fields/table.js';
import { isDictionary } from '../http/fields/values.js';
import type { SecretCipher } from '../pipeline/encryption.js';
import { hourMs } from '../schemas/durations.js';
import { isId } from '../schemas/ids.js';
import { Id, Timestamp } from '../schemas/json/common.js';
import type { ProjectRecord } from '../schemas/json/project.js';
import { Event } from '../schemas/json/user.js';
import { isoTime } from '../schemas/wire/common.js';
import { type Erased, erasedIn } from './erased.js';
import type { FoundIn, ReplayJob } from './job.js';
import type { Replays } from './replays.js';
import type { ReplayRecord } from './stored-replays.js';

interface ReplayDependencies extends Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'> {
  readonly secretCipher: SecretCipher;
  readonly replays: Replays;
}

const maxRangeHours = 8 * 24;
const maxGeofences = 1_000;
const maxWarmUpHours = 7 * 24;
const defaultWarmUpHours = 24;
const tag = 'replays';
const config = { authority: 'secret', limit: 'management' } as const;

const fields = {
  from: dateField('Locations received then or later, ISO 8601. Default: 7 days before `to`'),
  to: dateField('Locations received before, ISO 8601. Default: now'),
  warmUpHours: numberField(
    { minimum: 0, maximum: maxWarmUpHours, unit: 'hours' },
    'How long before the range devices are followed, to know which geofences they were inside of. ' +
      `Default: ${defaultWarmUpHours}`,
  ),
  geofences: field(
    (reader, name) => reader.list(name) ?? null,
    Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: maxGeofences }),
    { description: 'Proposed geofences, as POST /v1/geofences takes them, by coordinates' },
  ),
  keepGeofences: booleanField(
    'Whether the current geofences take part as well. One with the tag and externalId of a proposed one is replaced. ' +
      'Default: true',
  ),
  settings: field((reader, name) => reader.dictionary(name) ?? null, Type.Object({}, { additionalProperties: true }), {
    description: 'Changed settings, as PATCH /v1/settings takes them',
  }),
};

/** Reads the proposed geofences. A problem names the geofence and its field. */
function readGeofences(reader: FieldReader, given: readonly unknown[]): GeofenceInput[] {
  const pairs = new Set<string>();
  if (given.length > maxGeofences) reader.refuse('geofences', `must be at most ${maxGeofences}`);
  return given.slice(0, maxGeofences).flatMap((each, index) => {
    const place = `geofences[${index}]`;
    if (!isDictionary(each)) {
      reader.refuse(place, 'must be an object of fields');
      return [];
    }
    const read = readPlainGeofence(each);
    if (!read.ok) {
      const { param, rule, message, code } = read.error;
      reader.refuse(param === undefined ? place : `${place}.${param}`, rule ?? message, code);
      return [];
    }
    const pair = JSON.stringify([read.value.tag, read.value.externalId]);
    if (pairs.has(pair)) reader.refuse(`${place}.externalId`, 'occurs twice with this tag');
    pairs.add(pair);
    return [read.value];
  });
}

/** Reads the body of a request for a replay. */
function readReplay(
  project: ProjectRecord,
  scope: ReplayJob['scope'],
  erased: Erased,
  body: RawFields,
  nowMs: number,
): Outcome<ReplayJob> {
  const reader = new FieldReader(body);
  refuseUnknown(reader, fields, body);
  const given = readTable(reader, fields);
  const toMs = Math.min(given.to ?? nowMs, nowMs);
  const fromMs = given.from ?? toMs - 7 * 24 * hourMs;
  if (fromMs >= toMs) reader.refuse('from', 'must be before `to`, and in the past');
  if (toMs - fromMs > maxRangeHours * hourMs)
    reader.refuse('from', `must be at most ${maxRangeHours / 24} days before \`to\``);
  const geofences = given.geofences && readGeofences(reader, given.geofences);
  const settings = given.settings && changeSettings(project.settings[scope.environment], given.settings);
  if (settings && !settings.ok) {
    const { param = '', rule, message } = settings.error;
    reader.refuse(`settings.${param}`, rule ?? message);
  }
  if (!geofences && !settings) reader.refuse('geofences', 'is required, unless `settings` are given');
  return reader.outcome(() => ({
    project,
    scope,
    range: { fromMs, toMs },
    warmUpMs: (given.warmUpHours ?? defaultWarmUpHours) * hourMs,
    proposed: {
      ...(geofences && { geofences, keepsOthers: given.keepGeofences ?? true }),
      ...(settings?.ok && { settings: settings.value }),
    },
    erased,
  }));
}

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

const one = answerOf({ replay: Replay });
const maxBodyBytes = 4 * 2 ** 20;

/** Creates the plugin of the routes. Closing the server ends the replays that run on this node. */
export const replayRoutes =
  ({ replays, configuration, writer, secretCipher, clock }: ReplayDependencies): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preClose', () => replays.close());
    const recordOf = async (request: FastifyRequest<ById>): Promise<ReplayRecord> => {
      const { id } = request.params;
      // A longer text is no key of what is kept.
      return found(isId(id) ? await replays.find(callerOf(request), id) : undefined, 'replay');
    };

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
        body: schemaOf(fields),
        status: 202,
        answer: one,
        failures: [400, 409, 503],
      }),
      handler: async (request, reply) => {
        const { project: id, environment } = callerOf(request);
        const scope = { project: id, environment };
        // What was erased through another node must be left out.
        await writer.catchUp();
        const project = found(configuration.project(id), 'project');
        const erased = erasedIn({ configuration, secretCipher, clock }, scope);
        const job = accepted(readReplay(project, scope, erased, bodyFields(request.body), clock()));
        const replay = replayJson(await replays.start(job));
        reply.code(202);
        return { meta: { code: 202 }, replay };
      },
    });

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
      handler: async (request) => ({ meta: { code: 200 }, replay: replayJson(await recordOf(request)) }),
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
        querystring: Type.Object({
          foundIn: Type.Optional(
            Type.Enum(['replay', 'record', 'both'], { default: 'replay', description: 'Where the event was found' }),
          ),
          ...limitParameter,
          cursor: Type.Optional(Type.String({ description: '`meta.cursor` of the page before' })),
        }),
        answer: listOf(
          { events: Type.Array(Type.Object({ firstLocation: Type.Boolean(), event: Event })) },
          { cursor: true },
        ),
        failures: [400, 404],
      }),
      handler: async (request) => {
        const reader = new FieldReader(request.query as RawFields);
        const foundIn: FoundIn = reader.choice('foundIn', ['replay', 'record', 'both'] as const) ?? 'replay';
        const limit = readLimit(reader);
        const from = reader.integer('cursor', { minimum: 0 }) ?? 0;
        accepted(reader.outcome(() => undefined));
        const record = await recordOf(request);
        const events = await replays.events(record, foundIn, from, limit);
        const next = from + events.length;
        const hasMore = next < record.kept[foundIn] && events.length > 0;
        return {
          meta: { code: 200, hasMore, ...(hasMore && { cursor: `${next}` }) },
          events: events.map((text) => JSON.parse(text) as { firstLocation: boolean; event: Static<typeof Event> }),
        };
      },
    });

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
        await replays.cancel(await recordOf(request));
        return { meta: { code: 200 } };
      },
    });
  };
