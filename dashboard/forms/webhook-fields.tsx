/** The fields of a webhook. */
import { Check, Segments, TextArea, TextField } from '../components/controls';
import { problemAt } from './draft';
import type { WebhookDraft } from './webhook';

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
      <TextArea label="Tags" rows={3} hint="Of the geofence or beacon, one per line. Empty: any" {...text('tags')} />
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
