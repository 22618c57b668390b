/** The sections of a beacon's form. */
import type { Beacon } from '../../client/types';
import { Segments, TextField } from '../components/controls';
import { type BeaconDraft, bodyOf, draftOf, newBeacon } from './beacon';
import { patchOf, problemOfDegrees } from './draft';
import { Identity, identityFields } from './identity';
import { MetadataSection } from './metadata';
import { Section } from './parts';
import type { RecordForm, RecordKind } from './record-form';

const types = [
  { value: 'ibeacon', label: 'iBeacon' },
  { value: 'eddystone', label: 'Eddystone' },
] as const;

const fields = [...identityFields, 'uuid', 'major', 'minor', 'uid', 'instance', 'coordinates', 'metadata'];

function Sections({ form }: { readonly form: RecordForm<Beacon, BeaconDraft> }) {
  const { draft } = form;
  const degrees = (axis: 'latitude' | 'longitude') => problemOfDegrees(form.error, axis, draft);
  return (
    <>
      <Identity form={form} example="entrance" />
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
          <TextField label="Latitude" inputMode="decimal" {...form.text('latitude')} problem={degrees('latitude')} />
          <TextField label="Longitude" inputMode="decimal" {...form.text('longitude')} problem={degrees('longitude')} />
        </div>
      </Section>
      <MetadataSection form={form} />
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
  patchOf,
  Sections,
};
