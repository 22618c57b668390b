/** Serves events: list and look up. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import { answerOf, type ById, described, found, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { Event } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { boundedReads } from '../history.js';
import { cursorParameter, limitOfTimesParameter, timeParameters } from '../lists.js';
import { sendPage } from '../page.js';
import { findEvent, listEvents, readEventQuery } from './events.js';
import { filterParameters } from './filters.js';

const tag = 'events';
const config = { authority: 'secret', limit: 'management' } as const;

const eventParameters = Type.Object({
  ...limitOfTimesParameter,
  ...cursorParameter,
  ...timeParameters('createdBefore', 'createdAfter'),
  ...filterParameters,
});

/** Serves GET /v1/events and /v1/events/{id}, from the analytics store. */
export const eventRoutes =
  ({ analytics }: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    app.get('/v1/events', {
      config,
      schema: described({
        operationId: 'listEvents',
        tag,
        summary: 'List events, newest first',
        description:
          'All filters must match. Events appear here about a second after they happened. Those of one location are ' +
          'in the reverse of their order in its answer; those of one time and several locations by receipt.',
        querystring: eventParameters,
        answer: listOf({ events: Type.Array(Event) }, { cursor: true }),
      }),
      handler: async (request, reply) => {
        const query = accepted(readEventQuery(request.query as RawFields));
        return sendPage('history', request, reply, (signal) =>
          listEvents(boundedReads(analytics, { signal }), callerOf(request), query),
        );
      },
    });

    app.get<ById>('/v1/events/:id', {
      config,
      schema: described({
        operationId: 'getEvent',
        tag,
        summary: 'Get an event',
        params: idParameter,
        answer: answerOf({ event: Event }),
        failures: [404],
      }),
      handler: async (request, reply) => {
        const reads = boundedReads(analytics, { signal: leavingOf(reply) });
        const event = await findEvent(reads, callerOf(request), request.params.id);
        return { meta: success, event: found(event, 'event') };
      },
    });
  };
