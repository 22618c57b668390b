/** The fields of a webhook as a form has them, and as the API takes them. Pure. */
import type { Webhook } from '../../client/types';
import { itemsOf, linesOf } from './lines';

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

/** Returns the body for the API. What is empty is null, which removes it. */
export const bodyOf = ({ url, description, types, tags, delivery, enabled }: WebhookDraft) => ({
  url: url.trim(),
  description: description.trim() || null,
  types: typesOf(types),
  tags: itemsOf(tags) ?? null,
  delivery,
  enabled,
});
