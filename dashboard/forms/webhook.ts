/** The fields of a webhook as a form has them, and as the API takes them. Pure. */
import type { Webhook } from '../../client/types';
import { itemsOf, linesOf } from './lines';

/** A webhook as its form has it. */
export interface WebhookDraft {
  readonly url: string;
  readonly description: string;
  /** Separated by commas; empty: all. */
  readonly types: string;
  /** One per line; empty: any. */
  readonly tags: string;
  readonly delivery: Webhook['delivery'];
  readonly enabled: boolean;
}

/** The draft of a webhook that does not exist yet. */
export const newWebhook: WebhookDraft = {
  url: '',
  description: '',
  types: '',
  tags: '',
  delivery: 'single',
  enabled: true,
};

/** The fields that show problems of their own. */
export const webhookFields = ['url', 'description', 'types', 'tags', 'delivery', 'enabled'];

/** Returns the form of a stored webhook. */
export const draftOf = ({
  url,
  description = '',
  types = [],
  tags = [],
  delivery,
  enabled,
}: Webhook): WebhookDraft => ({
  url,
  description,
  delivery,
  enabled,
  types: types.join(', '),
  tags: linesOf(tags),
});

/** Types have neither spaces nor commas. */
function typesOf(text: string): string[] | null {
  const types = text.split(/[\s,]+/).filter((type) => type !== '');
  return types.length > 0 ? types : null;
}

/**
 * Returns what the field of types may become with one more of them. A browser puts the chosen text in place of all that
 * is typed, so each has the types before it.
 */
export function completionsOf(text: string, types: readonly string[]): string[] {
  const before = typesOf(text.slice(0, text.lastIndexOf(',') + 1)) ?? [];
  return types.filter((type) => !before.includes(type)).map((type) => [...before, type].join(', '));
}

/** Returns the body for the API. What is empty is null, which removes it. */
export const bodyOf = ({ url, description, types, tags, delivery, enabled }: WebhookDraft) => ({
  url: url.trim(),
  description: description.trim() || null,
  types: typesOf(types),
  tags: itemsOf(tags) ?? null,
  delivery,
  enabled,
});
