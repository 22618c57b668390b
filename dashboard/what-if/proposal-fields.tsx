/** The fields of a proposal: its geofence, and the settings that differ from those of the project. */
import type { Settings } from '../../client/types';
import { Failure } from '../client/call';
import { useApi } from '../client/hooks';
import { Check, Segments, SelectField, TextArea, TextField } from '../components/controls';
import { draftFields, problemAt, problemOfDegrees } from '../forms/draft';
import type { GeofenceDraft } from '../forms/geofence';

const shapes = [
  { value: 'circle', label: 'Circle' },
  { value: 'polygon', label: 'Polygon' },
  { value: 'none', label: 'None' },
] as const;
export type ProposedShape = (typeof shapes)[number]['value'];

const proposed = 'geofences[0].';

/** Returns an error about the proposed geofence as one about a geofence: the request has it in a list. */
function ofGeofence(error: unknown): unknown {
  if (!(error instanceof Failure) || !error.param?.startsWith(proposed)) return error;
  const { status, type, param, message } = error;
  return new Failure(status, { type, param: param.slice(proposed.length), message: message.replace(proposed, '') });
}

/** Tests whether an error is shown at one of the fields. */
export const isAtField = (error: unknown): boolean =>
  ['description', 'coordinates', 'radius', 'tag', 'externalId'].some(
    (name) => problemAt(ofGeofence(error), name) !== undefined,
  );

interface ProposedGeofenceProps {
  readonly shape: ProposedShape;
  readonly draft: GeofenceDraft;
  readonly error: unknown;
  onShape(shape: ProposedShape): void;
  onDraft(change: (draft: GeofenceDraft) => GeofenceDraft): void;
}

export function ProposedGeofence({ shape, draft, error, onShape, onDraft }: ProposedGeofenceProps) {
  const problem = ofGeofence(error);
  const { text: field } = draftFields(draft, onDraft, (param) => problemAt(problem, param));
  const degrees = (axis: 'latitude' | 'longitude') => problemOfDegrees(problem, axis, draft);
  return (
    <>
      <Segments legend="Shape" value={shape} options={shapes} onChange={onShape} />
      {shape === 'none' ? (
        <p className="quiet">No geofence is added. Change a setting below.</p>
      ) : (
        <>
          <p className="quiet small">
            {shape === 'circle' ? 'Click the map to place the centre.' : 'Click the map to add corners.'}
          </p>
          <TextField label="Description" {...field('description')} />
        </>
      )}
      {shape === 'circle' && (
        <>
          <div className="form-grid">
            <TextField label="Latitude" inputMode="decimal" {...field('latitude')} problem={degrees('latitude')} />
            <TextField label="Longitude" inputMode="decimal" {...field('longitude')} problem={degrees('longitude')} />
          </div>
          <TextField label="Radius" unit="m" inputMode="decimal" {...field('radius')} />
        </>
      )}
      {shape === 'polygon' && (
        <TextArea
          label="Points"
          isCode
          rows={5}
          hint="One per line: latitude, longitude. Or paste GeoJSON."
          {...field('points', 'coordinates')}
        />
      )}
    </>
  );
}

/** The settings that a proposal may change here. */
const switches = [
  ['stopDetection', 'Stop detection'],
  ['bufferEntries', 'Buffer entries'],
  ['bufferExits', 'Buffer exits'],
  ['dwellEvents', 'Dwell events'],
] as const;
/** Settings that a proposal changes. The others stay. */
export type ChangedSettings = Partial<Pick<Settings, (typeof switches)[number][0] | 'minimumConfidence'>>;
const confidences = ['1', '2', '3'].map((value) => ({ value, label: `${value} of 3` }));

interface ProposedSettingsProps {
  readonly changed: ChangedSettings;
  onChange(changed: ChangedSettings): void;
}

/** Shows the settings of the project with the changes. Nothing until they are loaded. */
export function ProposedSettings({ changed, onChange }: ProposedSettingsProps) {
  const settings = useApi('GET /v1/settings', {}).data?.settings;
  if (settings === undefined) return null;
  return (
    <details>
      <summary>Settings</summary>
      <div className="stack-tight what-if-settings">
        {switches.map(([name, label]) => (
          <Check
            key={name}
            label={label}
            isChecked={changed[name] ?? settings[name]}
            onChange={(isChecked) => onChange({ ...changed, [name]: isChecked })}
          />
        ))}
        <SelectField
          label="Minimum confidence"
          value={String(changed.minimumConfidence ?? settings.minimumConfidence)}
          options={confidences}
          onChange={(value) => onChange({ ...changed, minimumConfidence: Number(value) })}
        />
      </div>
    </details>
  );
}
