/** POST /v1/track and /v1/track/replay: locations from devices. The answers carry the events that they caused. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { callerOf } from '../http/access/authority.js';
import type { Caller } from '../http/access/keys.js';
import { bodyFields } from '../http/describe.js';
import { accepted } from '../http/fields/reader.js';
import { readStructure } from '../http/fields/structures.js';
import { readBoolean, readNumber } from '../http/fields/values.js';
import { normalizeAddress } from '../http/location/address.js';
import { type Receipt, readLocation, type TrackFields } from '../http/location/request.js';
import { TrackRequest } from '../http/location/schema.js';
import type { TrackReply } from '../pipeline/ports.js';
import { type ApiError, type FieldProblem, fieldError, invalid, type Validated } from '../schemas/errors.js';
import type { Location } from '../schemas/records.js';
import type { IngestParts } from './dependencies.js';
import { refusalCode } from './rejections.js';
import { ReplayRequest, TrackAnswer } from './schemas.js';
import type { Wait } from './waiting.js';

const maxReplays = 1_000;
const maxListedRejections = 100;

/** The fields of a request that say what the answer contains. */
interface AnswerFields {
  readonly nearbyGeofencesLimit?: unknown;
}

interface RejectedReplay extends FieldProblem {
  readonly index: number;
}

const refusalOf = (problem: FieldProblem): ApiError => fieldError(refusalCode(problem), problem);

function fieldsOf(value: unknown): TrackFields & AnswerFields {
  return typeof value === 'object' && value !== null ? value : {};
}

function replaysOf(body: unknown): Validated<unknown[]> {
  const given = readStructure('replays', bodyFields(body).replays);
  if (!given.ok) return given;
  const { value } = given;
  if (value === undefined) return invalid('replays', 'is required');
  if (!Array.isArray(value) || value.length === 0 || value.length > maxReplays) {
    return invalid('replays', `must be a list of 1 to ${maxReplays} items`);
  }
  return { ok: true, value };
}

/** Returns the valid locations in order of device time, and the problems of the others. */
function readReplays(
  items: readonly unknown[],
  receipt: Receipt,
): { locations: Location[]; rejections: RejectedReplay[] } {
  const locations: Location[] = [];
  const rejections: RejectedReplay[] = [];
  items.forEach((item, index) => {
    const result = readLocation(fieldsOf(item), receipt);
    if (result.ok) locations.push(result.value);
    else rejections.push({ index, ...result.problem });
  });
  locations.sort((one, other) => one.occurredAt - other.occurredAt);
  return { locations, rejections };
}

/** Returns how many nearby geofences an answer has at most; undefined unless the request has a valid limit. */
function nearbyLimitOf({ nearbyGeofencesLimit }: AnswerFields): number | undefined {
  const limit = readNumber(nearbyGeofencesLimit) ?? undefined;
  return limit === undefined || limit < 0 ? undefined : limit;
}

const mobileTypes: readonly unknown[] = ['iOS', 'Android'];

/**
 * Returns whether a mobile SDK sends a stop again that is too old. After a refusal it would send this stop in place of
 * each later location.
 */
const isOutdatedStop = ({ headers }: FastifyRequest, { replayed }: TrackFields, { param }: FieldProblem): boolean =>
  param === 'updatedAtMsDiff' && readBoolean(replayed) === true && mobileTypes.includes(headers['x-radar-device-type']);

const rejectionJson = ({ index, param, rule }: RejectedReplay) => ({ index, param, message: `${param}: ${rule}` });

/** Creates the steps that both routes have. */
function createSteps({
  intake,
  metrics,
  rejections: counter,
  clock,
  disclosureFor,
  lastKnownUser,
  userOfDropped,
}: IngestParts) {
  const receiptOf = (request: FastifyRequest, replayed: boolean, replyTo: string): Receipt => {
    const { project, environment } = callerOf(request);
    return { project, environment, receivedAt: clock(), ip: normalizeAddress(request.ip) ?? null, replayed, replyTo };
  };

  /**
   * Answers the events of the locations. After the time limit it answers the last known user, and no events of
   * locations that are still pending.
   */
  async function answerOf(
    caller: Caller,
    locations: readonly Location[],
    replies: ReadonlyMap<string, TrackReply>,
    nearbyLimit: number | undefined,
  ) {
    const disclosure = disclosureFor(caller);
    const last = locations.at(-1)!;
    const latest = replies.get(last.id);
    const pending = replies.size < locations.length;
    const notEntered = locations.reduce((sum, { id }) => sum + (replies.get(id)?.notEntered ?? 0), 0);
    if (pending) metrics.add('track_replies_timed_out_total', 1);
    return {
      meta: { code: 200, ...(pending && { pending: true }), ...(notEntered > 0 && { notEntered }) },
      events: locations.flatMap((location) => {
        const reply = replies.get(location.id);
        return reply === undefined ? [] : disclosure.events(reply, location);
      }),
      user: await disclosure.user(latest?.user ?? (await lastKnownUser(locations)), last),
      ...(latest?.nearbyGeofences && {
        nearbyGeofences: disclosure.geofences(latest.nearbyGeofences.slice(0, nearbyLimit)),
      }),
    };
  }

  async function appendAndAnswer(
    request: FastifyRequest,
    endpoint: 'track' | 'replay',
    wait: Wait,
    locations: readonly Location[],
    fields: AnswerFields,
  ) {
    await intake(endpoint, locations, request.span);
    return answerOf(callerOf(request), locations, await wait.replies(locations.length), nearbyLimitOf(fields));
  }

  /** Answers a location that is dropped because of its age, with the user as last known. */
  async function answerToOutdated(request: FastifyRequest, fields: TrackFields, problem: FieldProblem) {
    const location = accepted(readLocation({ ...fields, updatedAtMsDiff: null }, receiptOf(request, true, '')));
    const user = await disclosureFor(callerOf(request)).user(await userOfDropped(location), location);
    return { meta: { code: 200 }, events: [], user, rejections: [rejectionJson({ index: 0, ...problem })] };
  }

  /** Counts locations that were refused, beside those that {@link intake} counts as accepted. */
  function countRejections(request: FastifyRequest, endpoint: 'track' | 'replay', problems: readonly FieldProblem[]) {
    metrics.add('locations_rejected_total', problems.length, endpoint);
    for (const problem of problems) counter.add(callerOf(request), endpoint, problem);
  }

  return { receiptOf, appendAndAnswer, answerToOutdated, countRejections };
}

type Steps = ReturnType<typeof createSteps>;

function addTrackRoute(app: FastifyInstance, { waiting }: IngestParts, steps: Steps): void {
  const { receiptOf, appendAndAnswer, answerToOutdated, countRejections } = steps;
  app.post(
    '/v1/track',
    {
      config: { authority: 'publishable', limit: 'track', checksTexts: true, isRepeatable: true },
      schema: { summary: 'Send a location', tags: ['track'], body: TrackRequest, response: { 200: TrackAnswer } },
    },
    async (request, reply) => {
      const wait = waiting.open(callerOf(request).project);
      try {
        const fields: TrackFields & AnswerFields = bodyFields(request.body);
        const result = readLocation(fields, receiptOf(request, false, wait.replyTo));
        if (result.ok) {
          app.rateLimiter.countLocations(callerOf(request), reply, [result.value]);
          return await appendAndAnswer(request, 'track', wait, [result.value], fields);
        }
        countRejections(request, 'track', [result.problem]);
        if (isOutdatedStop(request, fields, result.problem))
          return await answerToOutdated(request, fields, result.problem);
        throw refusalOf(result.problem);
      } finally {
        wait.cancel();
      }
    },
  );
}

function addReplayRoute(app: FastifyInstance, { waiting, bounds }: IngestParts, steps: Steps): void {
  const { receiptOf, appendAndAnswer, countRejections } = steps;
  app.post(
    '/v1/track/replay',
    {
      config: { authority: 'publishable', limit: 'track', checksTexts: true, isRepeatable: true },
      bodyLimit: bounds.maxReplayBodyBytes,
      schema: {
        summary: 'Send locations kept while offline',
        tags: ['track'],
        body: ReplayRequest,
        response: { 200: TrackAnswer },
      },
    },
    async (request, reply) => {
      const items = accepted(replaysOf(request.body));
      const wait = waiting.open(callerOf(request).project);
      try {
        const { locations, rejections } = readReplays(items, receiptOf(request, true, wait.replyTo));
        countRejections(request, 'replay', rejections);
        if (locations.length === 0) throw refusalOf(rejections[0]!);
        app.rateLimiter.countLocations(callerOf(request), reply, locations);
        const current = fieldsOf(items.at(-1));
        const answer = await appendAndAnswer(request, 'replay', wait, locations, current);
        return rejections.length === 0
          ? answer
          : { ...answer, rejections: rejections.slice(0, maxListedRejections).map(rejectionJson) };
      } finally {
        wait.cancel();
      }
    },
  );
}

/** Registers both routes. */
export const trackRoutes: FastifyPluginAsync<IngestParts> = async (app, parts) => {
  const steps = createSteps(parts);
  addTrackRoute(app, parts, steps);
  addReplayRoute(app, parts, steps);
};
