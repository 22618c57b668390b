/** What a webhook's owner may send, for the API's description; the readers of fields decide. */
import Type from 'typebox';
import { maxNameLength, maxTextLength } from '../../http/fields/reader.js';
import { maxUrlLength } from '../../outbound/url.js';
import { Id } from '../../schemas/json/common.js';
import { maxWebhookTags, maxWebhookTypes, WebhookDelivery } from '../../schemas/json/webhook.js';
import { eventTypeRule, webhookDefaults } from './input.js';
import { defaultOverlapHours, maxOverlapHours } from './secrets.js';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const url = { maxLength: maxUrlLength, description: 'http or https, not to an address that is reserved' };
const time = (description: string) => Type.Optional(Type.String({ description }));

/** The fields of a change, all of which may be left out. */
export const WebhookFields = Type.Object({
  url: Type.Optional(Type.String(url)),
  description: nullable(Type.String({ maxLength: maxTextLength })),
  types: nullable(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: maxWebhookTypes,
      description: `Each ${eventTypeRule}. Null: all`,
    }),
  ),
  tags: nullable(
    Type.Array(Type.String({ maxLength: maxNameLength }), {
      minItems: 1,
      maxItems: maxWebhookTags,
      description: 'Of the geofence or beacon. Null: any or none',
    }),
  ),
  delivery: Type.Optional(
    Type.Union([WebhookDelivery, Type.Null()], {
      default: webhookDefaults.delivery,
      description: 'single: one event a request. grouped: the events of one location together',
    }),
  ),
  enabled: nullable(Type.Boolean({ default: webhookDefaults.enabled })),
});

/** The fields of a creation. */
export const NewWebhookFields = Type.Object({ ...WebhookFields.properties, url: Type.String(url) });

export const RotationFields = Type.Object({
  overlapHours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxOverlapHours,
      default: defaultOverlapHours,
      description: 'How long the secrets before it go on signing too',
    }),
  ),
});

export const TestFields = Type.Object({
  type: Type.Optional(
    Type.String({
      description: 'Of the sample event. Default: the first that the webhook takes, or user.entered_geofence',
    }),
  ),
});

export const RedeliveryFields = Type.Object({
  event: Type.Optional(Id),
  from: time('`createdAt` of the first event; a date, or an ISO 8601 date and time'),
  to: time('Events before this time; absent: to the newest'),
  state: Type.Optional(Type.Enum(['failed'], { description: 'Only events whose last attempt was not delivered' })),
  cursor: Type.Optional(
    Type.String({ description: '`meta.cursor` of the answer before, with otherwise equal fields' }),
  ),
});
