/** Webhooks: the endpoint as it is kept and as it is answered, and the record of what was tried. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/**
 * A signing secret as it is kept. Signing needs the secret itself, so it can't be hashed: it is sealed with the
 * installation's key.
 * One that is being replaced still signs until `expiresAt` (epoch ms).
 */
export const WebhookSecretRecord = Type.Object({
  _id: Id,
  sealed: Type.String({ description: 'See pipeline/sealing.ts; bound to the _id of the webhook' }),
  hint: Type.String({ description: 'Prefix and last four characters, to tell secrets apart' }),
  createdAt: Type.Integer(),
  expiresAt: Type.Union([Type.Integer(), Type.Null()]),
});
export type WebhookSecretRecord = Static<typeof WebhookSecretRecord>;

export const maxWebhookSecrets = 5;
export const maxWebhookTypes = 100;
export const maxWebhookTags = 1_000;

/**
 * single: one event a request. grouped: the events of one location together, at most {@link maxGroupedEvents} a
 * request.
 */
export const WebhookDelivery = Type.Enum(['single', 'grouped']);
export type WebhookDelivery = Static<typeof WebhookDelivery>;
export const maxGroupedEvents = 5;

/** owner: by a request. gone: it answered 410. failing: five days of nothing but failure. */
export const WebhookDisabledReason = Type.Enum(['owner', 'gone', 'failing']);
export type WebhookDisabledReason = Static<typeof WebhookDisabledReason>;

/** A webhook endpoint as the `changes` topic and the view keep it. Times are epoch ms; `null` means not set. */
export const WebhookRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    url: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    types: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Event types; null: all' }),
    tags: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Of the geofence or beacon; null: any or none',
    }),
    delivery: WebhookDelivery,
    enabled: Type.Boolean(),
    disabled: Type.Union([Type.Object({ reason: WebhookDisabledReason, at: Type.Integer() }), Type.Null()]),
    secrets: Type.Array(WebhookSecretRecord, { minItems: 1, maxItems: maxWebhookSecrets }),
  },
  { additionalProperties: false },
);
export type WebhookRecord = Static<typeof WebhookRecord>;

/** A signing secret as the API answers it. */
export const WebhookSecret = Type.Object({
  _id: Id,
  hint: Type.String(),
  createdAt: Timestamp,
  expiresAt: Type.Optional(Timestamp),
  secret: Type.Optional(Type.String({ description: 'The secret itself (`whsec_…`), answered once when it is made' })),
});
export type WebhookSecret = Static<typeof WebhookSecret>;

/** A webhook as the API answers it. Fields that are not set are absent. */
export const Webhook = Type.Object(
  {
    _id: Id,
    live: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    url: Type.String(),
    description: Type.Optional(Type.String()),
    types: Type.Optional(Type.Array(Type.String())),
    tags: Type.Optional(Type.Array(Type.String())),
    delivery: WebhookDelivery,
    enabled: Type.Boolean(),
    disabled: Type.Optional(Type.Object({ reason: WebhookDisabledReason, at: Timestamp })),
    secrets: Type.Array(WebhookSecret),
  },
  { $id: 'Webhook', description: 'An address that events are sent to' },
);
export type Webhook = Static<typeof Webhook>;

/** What became of one try. Stable: owners filter by it. */
export const attemptResults = {
  delivered: 'Answered 2xx.',
  refused: 'Answered with another status; see `response`.',
  redirected: 'Answered 3xx; redirects are not followed.',
  gone: 'Answered 410; the webhook was disabled.',
  address_refused:
    'The address is private, loopback or otherwise reserved, and the operator has not allowed its network.',
  name_not_found: 'The host name could not be resolved.',
  connection_failed: 'No connection could be made, or it broke before an answer.',
  tls_failed: 'The certificate or the TLS handshake is wrong.',
  timed_out: 'No answer within the time limit.',
  invalid_answer: 'What came back is not HTTP, or its headers are too large.',
  secret_unreadable:
    'No request was made: the signing secrets were sealed with another key than this installation has.',
  expired: 'No request was made: it waited longer than deliveries are kept, as for a disabled webhook.',
} as const;
export type AttemptResult = keyof typeof attemptResults;

/**
 * delivered: done. retrying: another try will follow at `nextAttemptAt`. given_up: no more tries follow by themselves.
 */
export const AttemptState = Type.Enum(['delivered', 'retrying', 'given_up']);
export type AttemptState = Static<typeof AttemptState>;

/** One try to deliver, as the API answers it. */
export const Attempt = Type.Object(
  {
    _id: Id,
    delivery: Type.String({ description: '`webhook-id` of the request, the same on every try' }),
    events: Type.Array(Id),
    attempt: Type.Integer({ description: '1 for the first try' }),
    reason: Type.Enum(['event', 'redelivery', 'test']),
    at: Timestamp,
    durationMs: Type.Number(),
    url: Type.String(),
    result: Type.Enum(Object.keys(attemptResults) as AttemptResult[]),
    message: Type.Optional(Type.String({ description: 'What went wrong, where there was no answer' })),
    state: AttemptState,
    nextAttemptAt: Type.Optional(Timestamp),
    request: Type.Object({ body: Type.String() }),
    response: Type.Optional(
      Type.Object({
        status: Type.Integer(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.String({ description: 'The first bytes' }),
      }),
    ),
  },
  { $id: 'Attempt', description: 'One try to deliver events to a webhook' },
);
export type Attempt = Static<typeof Attempt>;

/** A delivery that waits to be sent, as the API answers it. */
export const WaitingDelivery = Type.Object(
  {
    _id: Type.String({ description: '`webhook-id` of the request' }),
    events: Type.Array(Id),
    reason: Type.Enum(['event', 'redelivery', 'test']),
    createdAt: Timestamp,
    attempts: Type.Integer({ description: 'Attempts so far; 0: it waits for its first' }),
    nextAttemptAt: Type.String({
      format: 'date-time',
      description: 'When it is due. A disabled or failing webhook gets it later',
    }),
  },
  { $id: 'WaitingDelivery', description: 'A delivery that waits to be sent to a webhook' },
);
export type WaitingDelivery = Static<typeof WaitingDelivery>;
