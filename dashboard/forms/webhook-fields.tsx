/** The fields of a webhook. */
import { Check, Segments, TextArea, TextField } from '../components/controls';
import type { DraftFields } from './draft';
import { completionsOf, type WebhookDraft } from './webhook';

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

export function WebhookFields({ form: { draft, set, text } }: { readonly form: DraftFields<WebhookDraft> }) {
  return (
    <>
      <TextField label="URL" type="url" placeholder="https://example.com/events" {...text('url')} />
      <TextField label="Description" {...text('description')} />
      <TextField
        label="Event types"
        list="event-types"
        placeholder="user.entered_geofence, user.exited_geofence"
        hint="Comma-separated; also names of conversions. Empty: all"
        {...text('types')}
      />
      <datalist id="event-types">
        {completionsOf(draft.types, commonTypes).map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <TextArea label="Tags" rows={3} hint="Of the geofence or beacon, one per line. Empty: any" {...text('tags')} />
      <Segments legend="Delivery" value={draft.delivery} options={deliveries} onChange={set('delivery')} />
      <Check
        label="Enabled"
        hint="A disabled webhook gets nothing."
        isChecked={draft.enabled}
        onChange={set('enabled')}
      />
    </>
  );
}
