/** The sections of a beacon's form. */
import type { Beacon } from '../../client/types';
import { Check, Segments, TextField } from '../components/controls';
import { type BeaconDraft, bodyOf, draftOf, newBeacon } from './beacon';
import { problemAt } from './draft';
import { MetadataEditor } from './metadata';
import { Section } from './parts';
import type { RecordForm, RecordKind } from './record-form';

const types = [
  { value: 'ibeacon', label: 'iBeacon' },
  { value: 'eddystone', label: 'Eddystone' },
] as const;

const fields = [
  'description',
  'tag',
  'externalId',
  'uuid',
  'major',
  'minor',
  'uid',
  'instance',
  'coordinates',
  'metadata',
];

function Sections({ form }: { readonly form: RecordForm<Beacon, BeaconDraft> }) {
  const { draft } = form;
  const isStored = form.stored !== undefined;
  return (
    <>
      <Section title="Identity">
        <div className="form-grid">
          <TextField className="wide" label="Description" {...form.text('description')} />
          <TextField
            label="Tag"
            hint="Groups beacons, for example entrance"
            {...form.text('tag')}
            disabled={isStored}
          />
          <TextField
            label="External id"
            hint="Its name in your own system, unique within the tag"
            {...form.text('externalId')}
            disabled={isStored}
          />
        </div>
        <Check
          label="Enabled"
          hint="A disabled beacon makes no events."
          isChecked={draft.enabled}
          onChange={form.set('enabled')}
        />
      </Section>
      <Section title="Signal">
        <Segments legend="Type" value={draft.type} options={types} onChange={form.set('type')} />
        {draft.type === 'ibeacon' ? (
          <div className="form-grid">
            <TextField
              className="wide"
              label="UUID"
              isCode
              hint="32 hex digits, with or without hyphens"
              {...form.text('uuid')}
            />
            <TextField label="Major" inputMode="numeric" hint="0 to 65,535" {...form.text('major')} />
            <TextField label="Minor" inputMode="numeric" hint="0 to 65,535" {...form.text('minor')} />
          </div>
        ) : (
          <div className="form-grid">
            <TextField label="Namespace (UID)" isCode hint="20 hex digits" {...form.text('uid')} />
            <TextField label="Instance" isCode hint="12 hex digits" {...form.text('instance')} />
          </div>
        )}
      </Section>
      <Section title="Place">
        <div className="form-grid">
          <TextField label="Latitude" inputMode="decimal" {...form.text('latitude', 'coordinates')} />
          <TextField label="Longitude" inputMode="decimal" {...form.text('longitude')} />
        </div>
      </Section>
      <Section title="Metadata">
        <MetadataEditor
          rows={draft.metadata}
          problem={problemAt(form.error, 'metadata')}
          onChange={form.set('metadata')}
        />
      </Section>
    </>
  );
}

export const beaconKind: RecordKind<Beacon, BeaconDraft> = {
  resource: 'beacons',
  singular: 'beacon',
  blank: newBeacon,
  fields,
  consequence: 'Devices that are near leave without an event.',
  draftOf,
  bodyOf,
  Sections,
};
