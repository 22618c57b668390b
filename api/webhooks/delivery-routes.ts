/** The routes of deliveries: send a sample, deliver events again, list waiting deliveries and attempts. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { answerOf, type ById, bodyFields, described, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { createFairLimit } from '../../pipeline/fair-limit.js';
import { deliveriesOf } from '../../pipeline/records/deliveries.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { ApiError } from '../../schemas/errors.js';
import { Attempt, AttemptState, WaitingDelivery, type WebhookRecord } from '../../schemas/json/webhook.js';
import type { Delivery } from '../../schemas/records.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { attemptJson } from '../../schemas/wire/webhook.js';
import type { ApiDependencies } from '../dependencies.js';
import { boundedReads } from '../history.js';
import { cursorParameter, encodeCursor, limitParameter, pageMeta, timeParameters } from '../lists.js';
import { sendPage } from '../page.js';
import { listAttempts, readAttemptQuery, resultNames } from './attempts.js';
import { readTestType, TestBody } from './fields.js';
import { webhookOf } from './records.js';
import { redeliverEvent, redeliverRange } from './redelivery.js';
import { RedeliveryBody, readRedelivery } from './redelivery-fields.js';
import { sampleOf } from './sample.js';
import { listWaiting, readWaitingQuery } from './waiting.js';

const tag = 'webhooks';
const config = { authority: 'secret', limit: 'management' } as const;

/** Events or bodies that one query of a redelivery reads. A location may have a thousand large events. */
const maxRedeliveredMib = 1_024;

const attemptParameters = Type.Object({
  ...limitParameter,
  ...cursorParameter,
  ...timeParameters('before', 'after'),
  result: Type.Optional(Type.Enum(resultNames)),
  state: Type.Optional(AttemptState),
  delivery: Type.Optional(Type.String({ description: '`webhook-id` of the request' })),
  event: Type.Optional(Type.String({ description: '`_id` of an event in the body' })),
});

function sampleDelivery(webhook: WebhookRecord, type: string, nowMs: number): Delivery {
  const { event, user } = sampleOf(webhook, type, nowMs);
  const orderKey = deviceKey({ ...webhook, deviceId: user.deviceId });
  const payload = { id: event.id, locationId: event.locationId, orderKey, text: eventText(event) };
  const [delivery] = deliveriesOf(webhook, [payload], JSON.stringify(user), { reason: 'test', createdAt: nowMs });
  return delivery as Delivery;
}

/** Adds the routes that send a sample, and events again. Redeliveries of a project wait for one another. */
function addSendingRoutes(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { analytics, clock, webhooks } = dependencies;
  // A redelivery goes on when its client has left: it may have queued some events already.
  const redelivering = { ...dependencies, analytics: boundedReads(analytics, { maxMib: maxRedeliveredMib }) };
  const inTurn = createFairLimit({
    maxRunning: 2,
    maxWaitingPerProject: 8,
    maxWaitMs: 30_000,
    refusal: 'too many redeliveries of this project are waiting',
    retryAfterS: 10,
  });

  app.post<ById>('/v1/webhooks/:id/test', {
    config,
    schema: described({
      operationId: 'testWebhook',
      tag,
      summary: 'Send a sample event at once',
      description: 'The sample has `source` "test" and `metadata.test` true. A disabled webhook is called as well.',
      params: idParameter,
      body: TestBody,
      answer: answerOf({ attempt: Attempt }),
      failures: [404],
    }),
    handler: async (request) => {
      const webhook = webhookOf(dependencies, request);
      const type = accepted(readTestType(bodyFields(request.body), webhook));
      const attempt = await webhooks.attemptOnce(webhook, sampleDelivery(webhook, type, clock()));
      return { meta: success, attempt: attemptJson(attempt) };
    },
  });

  app.post<ById>('/v1/webhooks/:id/redeliver', {
    config,
    schema: described({
      operationId: 'redeliverToWebhook',
      tag,
      summary: 'Deliver an event, or those of a time range, again',
      description:
        'Delivers at most 10,000 events per call, of those that match the types and tags of the webhook. ' +
        'While `hasMore` is true, call again with `cursor`. An event that was sent before is sent with the same ' +
        '`webhook-id` and the same bytes.',
      params: idParameter,
      body: RedeliveryBody,
      answer: listOf({ deliveries: Type.Integer({ description: 'Number of queued deliveries' }) }, { cursor: true }),
      failures: [404, 409],
    }),
    handler: async (request) => {
      const webhook = webhookOf(dependencies, request);
      const asked = accepted(readRedelivery(bodyFields(request.body)));
      if (!webhook.enabled) throw new ApiError('conflict', 'the webhook is disabled; enable it first');
      if (asked.kind === 'event') {
        const deliveries = await inTurn(webhook.project, () => redeliverEvent(redelivering, webhook, asked.event));
        return { meta: pageMeta(false, null), deliveries };
      }
      const { deliveries, next } = await inTurn(webhook.project, () =>
        redeliverRange(redelivering, webhook, asked.range),
      );
      return { meta: pageMeta(next !== null, next && encodeCursor(next)), deliveries };
    },
  });
}

/** Adds the routes that list waiting deliveries and attempts. */
function addReadingRoutes(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { analytics, log, webhooks } = dependencies;

  app.get<ById>('/v1/webhooks/:id/deliveries', {
    config,
    schema: described({
      operationId: 'listWaitingDeliveries',
      tag,
      summary: 'List waiting deliveries, the next due first',
      description: 'Deliveries that wait for their first attempt or for a retry.',
      params: idParameter,
      querystring: Type.Object({ ...limitParameter, ...cursorParameter }),
      answer: listOf({ deliveries: Type.Array(WaitingDelivery) }, { cursor: true }),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const webhook = webhookOf(dependencies, request);
      const query = accepted(readWaitingQuery(request.query as RawFields));
      return sendPage('configuration', request, reply, (leaving) =>
        listWaiting({ log, waiting: webhooks.waiting }, webhook, query, leaving),
      );
    },
  });

  app.get<ById>('/v1/webhooks/:id/attempts', {
    config,
    schema: described({
      operationId: 'listWebhookAttempts',
      tag,
      summary: 'List delivery attempts, newest first',
      description:
        'All filters must match. An attempt appears about one second after it was made and stays for 30 days.',
      params: idParameter,
      querystring: attemptParameters,
      answer: listOf({ attempts: Type.Array(Attempt) }, { cursor: true }),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const webhook = webhookOf(dependencies, request);
      const query = accepted(readAttemptQuery(request.query as RawFields));
      return sendPage('history', request, reply, (signal) =>
        listAttempts(boundedReads(analytics, { signal }), webhook, query),
      );
    },
  });
}

/** Serves tests, redeliveries, waiting deliveries and attempts of a webhook. */
export const deliveryRoutes =
  (dependencies: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    addSendingRoutes(app, dependencies);
    addReadingRoutes(app, dependencies);
  };
