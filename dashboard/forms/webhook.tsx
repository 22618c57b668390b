/** The fields of a webhook. */
import type { Webhook } from '../../client/types';
import { Check, Segments, TextField } from '../components/controls';
import { problemAt } from './draft';

export interface WebhookDraft {
  readonly url: string;
  readonly description: string;
  /** Separated by commas; empty: all. */
  readonly types: string;
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

export const webhookFields = ['url', 'description', 'types', 'tags', 'delivery', 'enabled'];

export const draftOf = ({
  url,
  description = '',
  types = [],
  tags = [],
  delivery,
  enabled,
}: Webhook): WebhookDraft => ({
  ...{ url, description, delivery, enabled },
  types: types.join(', '),
  tags: tags.join(', '),
});

function listOf(text: string): string[] | null {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  return items.length > 0 ? items : null;
}

export const bodyOf = ({ url, description, types, tags, delivery, enabled }: WebhookDraft) => ({
  url: url.trim(),
  description: description.trim() || null,
  types: listOf(types),
  tags: listOf(tags),
  delivery,
  enabled,
});

const deliveries = [
  { value: 'single', label: 'One event per request' },
  { value: 'grouped', label: 'Grouped' },
] as const;

const commonTypes = [
  'user.entered_geofence',
  'user.exited_geofence',
  'user.dwelled_in_geofence',
  'user.entered_beacon',
  'user.exited_beacon',
];

interface Props {
  readonly draft: WebhookDraft;
  readonly error: unknown;
  readonly isDisabled?: boolean;
  onChange(draft: WebhookDraft): void;
}

export function WebhookFields({ draft, error, isDisabled = false, onChange }: Props) {
  const text = (name: 'url' | 'description' | 'types' | 'tags') => ({
    value: draft[name],
    disabled: isDisabled,
    problem: problemAt(error, name),
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  return (
    <>
      <TextField label="URL" type="url" placeholder="https://example.com/events" {...text('url')} />
      <TextField label="Description" {...text('description')} />
      <TextField
        label="Event types"
        list="event-types"
        hint="Comma-separated; also names of conversions. Empty: all"
        {...text('types')}
      />
      <datalist id="event-types">
        {commonTypes.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <TextField label="Tags" hint="Of the geofence or beacon, comma-separated. Empty: any" {...text('tags')} />
      <Segments
        legend="Delivery"
        value={draft.delivery}
        options={deliveries}
        onChange={(delivery) => onChange({ ...draft, delivery })}
      />
      <Check
        label="Enabled"
        hint="A disabled webhook gets nothing."
        isChecked={draft.enabled}
        isDisabled={isDisabled}
        onChange={(enabled) => onChange({ ...draft, enabled })}
      />
    </>
  );
}
