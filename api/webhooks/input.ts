/**
 * From the fields of a request to what an owner says of a webhook. Pure.
 *
 * A change merges: what is left out stays, null and '' put a field back to its default. Names that aren't known are
 * refused, for a misspelt `tags` would send everything; those of the answer are let pass, so that what was read can be
 * sent back.
 */

import { FieldReader, maxNameLength, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { textOf } from '../../http/fields/values.js';
import type { Networks } from '../../outbound/addresses.js';
import { checkUrl, maxUrlLength } from '../../outbound/url.js';
import { eventTypes } from '../../schemas/json/user.js';
import { maxWebhookTags, maxWebhookTypes, Webhook, type WebhookRecord } from '../../schemas/json/webhook.js';

/** What an owner says of a webhook; the record adds identity, times and secrets. */
export type WebhookInput = Pick<WebhookRecord, 'url' | 'description' | 'types' | 'tags' | 'delivery' | 'enabled'>;

export const webhookDefaults = {
  description: null,
  types: null,
  tags: null,
  delivery: 'single',
  enabled: true,
} as const;

/**
 * @param current what the owner has said before; undefined when the webhook is made.
 * @param allowedNetworks within which the address may lie although it is reserved.
 */
export function mergeWebhook(
  current: WebhookInput | undefined,
  fields: RawFields,
  allowedNetworks: Networks,
): Outcome<WebhookInput> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, fields, Object.keys(Webhook.properties));
  const given = {
    // One that is kept isn't checked again: the connection decides.
    url: current && !Object.hasOwn(fields, 'url') ? current.url : readUrl(reader, allowedNetworks),
    description: reader.text('description', maxTextLength),
    types: readTypes(reader),
    tags: readTags(reader),
    delivery: reader.choice('delivery', ['single', 'grouped']) ?? webhookDefaults.delivery,
    enabled: reader.boolean('enabled') ?? webhookDefaults.enabled,
  };
  const kept = Object.entries(current ?? {}).filter(([name]) => !Object.hasOwn(fields, name));
  return reader.outcome(() => ({ ...given, ...Object.fromEntries(kept) }));
}

/** Refuses a field whose name is none of `known`. */
export function refuseUnknown(reader: FieldReader, fields: RawFields, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) reader.refuse(unknown, 'is not a known field');
}

/** In normal form. */
function readUrl(reader: FieldReader, allowedNetworks: Networks): string {
  const text = reader.requiredText('url', maxUrlLength);
  return text === '' ? text : (reader.take(checkUrl('url', text, allowedNetworks))?.href ?? text);
}

const conversionName = /^[A-Za-z0-9_]+$/;

/** Is it the type of an event, one of ours or the name of a conversion? */
export const isEventType = (text: string): boolean =>
  (eventTypes as readonly string[]).includes(text) || (text.length <= maxNameLength && conversionName.test(text));

export const eventTypeRule = `one of ${eventTypes.join(', ')}, or the name of a conversion, of letters, digits and underscores`;

function readTypes(reader: FieldReader): string[] | null {
  const types = readTexts(reader, 'types');
  if (types === null || (hasLength(types, maxWebhookTypes) && types.every(isEventType))) return types;
  return reader.refuse('types', `must be 1 to ${maxWebhookTypes} event types, each ${eventTypeRule}`);
}

function readTags(reader: FieldReader): string[] | null {
  const tags = readTexts(reader, 'tags');
  if (tags === null || (hasLength(tags, maxWebhookTags) && tags.every((tag) => tag.length <= maxNameLength)))
    return tags;
  return reader.refuse('tags', `must be 1 to ${maxWebhookTags} tags of at most ${maxNameLength} characters`);
}

const hasLength = (list: readonly unknown[], maximum: number): boolean => list.length > 0 && list.length <= maximum;

/** Each once, in the order given; empty when it is no list of texts. Null when it isn't given. */
function readTexts(reader: FieldReader, name: 'types' | 'tags'): string[] | null {
  const given = reader.value(name);
  if (given === undefined) return null;
  const texts = (reader.list(name) ?? []).map((value) => textOf(value) ?? '');
  // Spaces are of the tag, but not those around commas.
  const distinct = new Set(Array.isArray(given) ? texts : texts.map((text) => text.trim()));
  return distinct.has('') ? [] : [...distinct];
}
