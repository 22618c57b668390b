/** The fields of a webhook, of the rotation of its secret, and of a test. Pure. */
import Type from 'typebox';
import { FieldReader, maxNameLength, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import {
  booleanField,
  choiceField,
  field,
  nullable,
  numberField,
  readChange,
  readTable,
  refuseUnknown,
  required,
  schemaOf,
  textField,
  withDefault,
} from '../../http/fields/table.js';
import { textOf } from '../../http/fields/values.js';
import type { Networks } from '../../outbound/addresses.js';
import { checkUrl, maxUrlLength } from '../../outbound/url.js';
import { maxWebhookTags, maxWebhookTypes, Webhook, type WebhookRecord } from '../../schemas/json/webhook.js';
import { eventTypeRule, isEventType, readEventType } from '../events/event-type.js';
import { defaultOverlapHours, maxOverlapHours } from './secrets.js';

/** What an owner says about a webhook. The record adds identity, times and secrets. */
export type WebhookInput = Pick<WebhookRecord, 'url' | 'description' | 'types' | 'tags' | 'delivery' | 'enabled'>;

/**
 * Returns the fields of a webhook.
 * @param allowedNetworks networks that may be called although they are reserved.
 */
export const webhookFields = (allowedNetworks: Networks) => ({
  url: required(
    field((reader, name) => readUrl(reader, name, allowedNetworks), Type.String({ maxLength: maxUrlLength }), {
      description: 'http or https; reserved addresses are refused',
    }),
  ),
  description: nullable(textField({ maxLength: maxTextLength })),
  types: nullable(
    field(readTypes, Type.Array(Type.String(), { minItems: 1, maxItems: maxWebhookTypes }), {
      description: `Each ${eventTypeRule}. Null: all`,
    }),
  ),
  tags: nullable(
    field(readTags, Type.Array(Type.String({ maxLength: maxNameLength }), { minItems: 1, maxItems: maxWebhookTags }), {
      description: 'Of the geofence or beacon. Null: any or none',
    }),
  ),
  delivery: nullable(
    withDefault(
      choiceField(['single', 'grouped'], 'single: one event per request. grouped: the events of one location together'),
      'single',
    ),
  ),
  enabled: nullable(withDefault(booleanField(), true)),
});

/**
 * Reads a new webhook, or a change of one. In a change a field that is not named stays; null or empty text puts it back
 * to its default. The URL of a webhook that keeps it is not checked again: the connection decides.
 * @param current what the owner said before; undefined when the webhook is created.
 */
export function readWebhook(
  current: WebhookInput | undefined,
  fields: RawFields,
  allowedNetworks: Networks,
): Outcome<WebhookInput> {
  const reader = new FieldReader(fields);
  const table = webhookFields(allowedNetworks);
  refuseUnknown(reader, table, fields, Object.keys(Webhook.properties));
  const input = readChange(reader, table, fields, current);
  return reader.outcome(() => input);
}

const rotationFields = {
  overlapHours: withDefault(
    numberField(
      { minimum: 0, maximum: maxOverlapHours, unit: 'hours' },
      'Hours during which the earlier secrets sign as well',
    ),
    defaultOverlapHours,
  ),
};
/** Body of a rotation of the signing secret. */
export const RotationBody = schemaOf(rotationFields);

/** Reads for how many hours the earlier secrets sign as well. */
export function readOverlapHours(fields: RawFields): Outcome<number> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, rotationFields, fields);
  const { overlapHours } = readTable(reader, rotationFields);
  return reader.outcome(() => overlapHours);
}

const testFields = {
  type: field(readEventType, Type.String(), {
    description:
      'Type of the sample event. Default: the first type that the webhook receives, or user.entered_geofence',
  }),
};
/** Body of a test, which sends a sample event. */
export const TestBody = schemaOf(testFields);

/** Reads the type of the sample event for a webhook. */
export function readTestType(fields: RawFields, webhook: WebhookRecord): Outcome<string> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, testFields, fields);
  const { type } = readTable(reader, testFields);
  return reader.outcome(() => type ?? webhook.types?.[0] ?? 'user.entered_geofence');
}

/** Returns the URL in normal form. */
function readUrl(reader: FieldReader, name: string, allowedNetworks: Networks): string | null {
  const text = reader.text(name, maxUrlLength);
  return text === null
    ? null
    : (reader.take(checkUrl(name, text, allowedNetworks, 'webhooks.allowedNetworks'))?.href ?? null);
}

function readTypes(reader: FieldReader, name: string): string[] | null {
  const types = readTexts(reader, name);
  if (types === null || (hasLength(types, maxWebhookTypes) && types.every(isEventType))) return types;
  return reader.refuse(name, `must be 1 to ${maxWebhookTypes} event types, each ${eventTypeRule}`);
}

function readTags(reader: FieldReader, name: string): string[] | null {
  const tags = readTexts(reader, name);
  if (tags === null || (hasLength(tags, maxWebhookTags) && tags.every((tag) => tag.length <= maxNameLength)))
    return tags;
  return reader.refuse(name, `must be 1 to ${maxWebhookTags} tags of at most ${maxNameLength} characters`);
}

const hasLength = (list: readonly unknown[], maximum: number): boolean => list.length > 0 && list.length <= maximum;

/** Returns each text once, in the order given; an empty list when an item is not text. Null when not given. */
function readTexts(reader: FieldReader, name: string): string[] | null {
  if (reader.value(name) === undefined) return null;
  const texts = new Set((reader.list(name) ?? []).map((value) => textOf(value) ?? ''));
  return texts.has('') ? [] : [...texts];
}
