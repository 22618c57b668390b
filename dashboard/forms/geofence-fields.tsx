/** The sections of a geofence's form. */
import type { Geofence } from '../../client/types';
import { Notice, Segments, SelectField, TextArea, TextField } from '../components/controls';
import { ShapePicture } from '../components/shape-picture';
import { isEqual, problemAt, problemOfDegrees } from './draft';
import { bodyOf, draftOf, type GeofenceDraft, newGeofence, patchOfGeofence } from './geofence';
import { Identity, identityFields } from './identity';
import { MetadataSection } from './metadata';
import { Section } from './parts';
import type { RecordForm, RecordKind } from './record-form';
import { WeekEditor } from './week';

const types = [
  { value: 'circle', label: 'Circle' },
  { value: 'polygon', label: 'Polygon' },
  { value: 'isochrone', label: 'Travel time' },
] as const;

const modes = ['car', 'truck', 'foot', 'bike', 'motorbike'].map((value) => ({ value, label: value }));

const stops = [
  { value: 'project', label: "The project's setting" },
  { value: 'on', label: 'On: enter only at a stop' },
  { value: 'off', label: 'Off: enter at once' },
] as const;

const fields = [
  ...identityFields,
  'coordinates',
  'address',
  'radius',
  'mode',
  'dwellThreshold',
  'disableAfter',
  'deleteAfter',
  'userIds',
  'userId',
  'ip',
  'metadata',
  'operatingHours',
];

function Sections({ form }: { readonly form: RecordForm<Geofence, GeofenceDraft> }) {
  const { draft } = form;
  const degrees = (axis: 'latitude' | 'longitude') => problemOfDegrees(form.error, axis, draft);
  return (
    <>
      <Identity form={form} example="store" />
      <Section title="Area">
        <Segments legend="Shape" value={draft.type} options={types} onChange={form.set('type')} />
        {draft.type === 'polygon' ? (
          <TextArea
            label="Points"
            isCode
            rows={7}
            hint="One per line: latitude, longitude. Or paste GeoJSON. The last point joins the first."
            {...form.text('points', 'coordinates')}
          />
        ) : (
          <div className="form-grid">
            <TextField label="Latitude" inputMode="decimal" {...form.text('latitude')} problem={degrees('latitude')} />
            <TextField
              label="Longitude"
              inputMode="decimal"
              {...form.text('longitude')}
              problem={degrees('longitude')}
            />
            {draft.type === 'circle' ? (
              <TextField label="Radius" unit="m" inputMode="decimal" hint="10 to 10,000" {...form.text('radius')} />
            ) : (
              <>
                <TextField
                  label="Time"
                  unit="min"
                  inputMode="decimal"
                  hint="1 to 60"
                  {...form.text('minutes', 'radius')}
                />
                <SelectField label="By" options={modes} {...form.text('mode')} />
              </>
            )}
            <TextField
              className={draft.type === 'circle' ? '' : 'wide'}
              label="Address"
              hint="In place of coordinates, if the server can look it up"
              {...form.text('address')}
            />
          </div>
        )}
        {form.stored?.placeId !== undefined && <FollowedPlace draft={draft} stored={form.stored} />}
        <ShapePicture draft={draft} stored={form.stored} />
      </Section>
      <Section title="Operating hours">
        <WeekEditor
          hours={draft.hours}
          problem={problemAt(form.error, 'operatingHours')}
          onChange={form.set('hours')}
        />
      </Section>
      <MetadataSection form={form} />
      <Section title="Events">
        <div className="form-grid">
          <TextField
            label="Dwell threshold"
            unit="min"
            inputMode="decimal"
            hint="Empty: the project's default"
            {...form.text('dwellThreshold')}
          />
          <SelectField
            label="Stop detection"
            value={draft.stopDetection}
            options={stops}
            onChange={form.set('stopDetection')}
          />
          <TextField label="Only for users" hint="User ids, comma-separated" {...form.text('userIds')} />
          <TextField
            label="Only from addresses"
            hint="IP addresses, 10.0.0.* or ranges, comma-separated"
            {...form.text('ip')}
          />
          <TextField
            label="Disable after"
            placeholder="2029-01-31"
            hint="A date, or a date and time, in UTC"
            {...form.text('disableAfter')}
          />
          <TextField
            label="Delete after"
            placeholder="2029-01-31"
            hint="A date, or a date and time, in UTC"
            {...form.text('deleteAfter')}
          />
        </div>
      </Section>
    </>
  );
}

/** Says that the geofence has the geometry of a place, and that a change of it ends this. */
function FollowedPlace({ draft, stored }: { readonly draft: GeofenceDraft; readonly stored: Geofence }) {
  const [before, after] = [bodyOf(draftOf(stored)), bodyOf(draft)];
  const isMoved = !isEqual([before.coordinates, before.address], [after.coordinates, after.address]);
  return (
    <Notice tone={isMoved ? 'warning' : 'info'} role="status">
      {isMoved ? 'When this is saved, the geofence no longer follows place ' : 'The geofence follows place '}
      <code>{stored.placeId}</code>.
    </Notice>
  );
}

export const geofenceKind: RecordKind<Geofence, GeofenceDraft> = {
  resource: 'geofences',
  singular: 'geofence',
  blank: newGeofence,
  fields,
  consequence: 'Devices that are inside leave without an event.',
  draftOf,
  bodyOf,
  patchOf: patchOfGeofence,
  Sections,
};
