/** The form of one geofence, new or existing. */
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { type Answer, call, Failure, revisionOf } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import {
  Button,
  Check,
  Confirm,
  Loading,
  Notice,
  Page,
  Segments,
  SelectField,
  TextArea,
  TextField,
} from '../components/controls';
import { Icon } from '../components/icons';
import { ShapePicture } from '../components/shape-picture';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { pairOf, patchOf, problemAt, refuseTaken } from '../forms/draft';
import { bodyOf, draftOf, type GeofenceDraft, newGeofence } from '../forms/geofence';
import { MetadataEditor } from '../forms/metadata';
import { FormEnd, Section, showProblem } from '../forms/parts';
import { WeekEditor } from '../forms/week';
import { useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/geofences/{id}'>;

export default function GeofenceView() {
  const { id } = useParams<{ id: string }>();
  return id === 'new' ? <GeofenceForm key="new" loaded={undefined} /> : <ExistingGeofence key={id} id={id} />;
}

const back = (
  <Link href="/geofences" className="back">
    <Icon name="back" size={14} /> Geofences
  </Link>
);

function ExistingGeofence({ id }: { readonly id: string }) {
  const loaded = useApi('GET /v1/geofences/{id}', { path: { id } }, { staleTime: Number.POSITIVE_INFINITY });
  if (loaded.error) {
    return (
      <Page title="Geofence" above={back} isNarrow>
        <Notice tone="danger">
          {loaded.error instanceof Failure && loaded.error.status === 404
            ? 'There is no such geofence in this environment.'
            : messageOf(loaded.error)}
        </Notice>
      </Page>
    );
  }
  if (loaded.data === undefined) return <Loading />;
  // Another revision begins with another form.
  return <GeofenceForm key={revisionOf(loaded.data)} loaded={loaded.data} />;
}

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
  'description',
  'tag',
  'externalId',
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

/** Creates the geofence, unless its pair exists: that would replace it in silence. */
async function create(body: Record<string, unknown>) {
  const pair = pairOf(body);
  if (pair) refuseTaken(pair, (await call('GET /v1/geofences', { query: { ...pair, limit: 1 } })).geofences);
  return call('POST /v1/geofences', { body: body as never });
}

function GeofenceForm({ loaded }: { readonly loaded: Loaded | undefined }) {
  const { isOwner } = useWorkspace();
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const [initial] = useState(() => (loaded ? draftOf(loaded.geofence) : newGeofence));
  const [draft, setDraft] = useState(initial);
  const [isDeleting, setDeleting] = useState(false);
  const id = loaded?.geofence._id;
  const save = useChange(async () => {
    const body = bodyOf(draft);
    if (id === undefined) return create(body);
    const patch = patchOf(bodyOf(initial), body);
    return call('PATCH /v1/geofences/{id}', { path: { id }, body: patch, ifMatch: revisionOf(loaded) });
  }, 'geofences');
  const remove = useChange(() => call('DELETE /v1/geofences/{id}', { path: { id: id! } }), 'geofences');

  const set =
    <Name extends keyof GeofenceDraft>(name: Name) =>
    (value: GeofenceDraft[Name]) =>
      setDraft((all) => ({ ...all, [name]: value }));
  const text = (name: keyof GeofenceDraft, param: string = name) => ({
    value: draft[name] as string,
    problem: problemAt(save.error, param),
    onChange: set(name) as (value: string) => void,
    disabled: !isOwner,
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate(undefined, {
      onSuccess: ({ geofence }) => {
        toasts.say(`${geofence.description} is saved.`);
        navigate('/geofences');
      },
      onError: showProblem,
    });
  }
  return (
    <Page
      title={loaded?.geofence.description ?? 'New geofence'}
      above={back}
      isNarrow
      actions={
        loaded &&
        isOwner && (
          <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )
      }
    >
      <form className="stack" onSubmit={submit} noValidate>
        <Section title="Identity">
          <div className="form-grid">
            <TextField className="wide" label="Description" {...text('description')} />
            <TextField
              label="Tag"
              hint="Groups geofences, for example store"
              {...text('tag')}
              disabled={!isOwner || id !== undefined}
            />
            <TextField
              label="External id"
              hint="Its name in your own system, unique within the tag"
              {...text('externalId')}
              disabled={!isOwner || id !== undefined}
            />
          </div>
          <Check
            label="Enabled"
            hint="A disabled geofence makes no events."
            isChecked={draft.enabled}
            isDisabled={!isOwner}
            onChange={set('enabled')}
          />
        </Section>
        <Section title="Area">
          <Segments legend="Shape" value={draft.type} options={types} onChange={set('type')} />
          {draft.type === 'polygon' ? (
            <TextArea
              label="Points"
              isCode
              rows={7}
              hint="One a line: latitude, longitude. Or paste GeoJSON. The last point joins the first."
              {...text('points', 'coordinates')}
            />
          ) : (
            <div className="form-grid">
              <TextField label="Latitude" inputMode="decimal" {...text('latitude', 'coordinates')} />
              <TextField label="Longitude" inputMode="decimal" {...text('longitude')} />
              {draft.type === 'circle' ? (
                <TextField label="Radius" unit="m" inputMode="decimal" hint="10 to 10,000" {...text('radius')} />
              ) : (
                <>
                  <TextField
                    label="Time"
                    unit="min"
                    inputMode="decimal"
                    hint="1 to 60"
                    {...text('minutes', 'radius')}
                  />
                  <SelectField label="By" options={modes} {...text('mode')} />
                </>
              )}
              <TextField
                className={draft.type === 'circle' ? '' : 'wide'}
                label="Address"
                hint="In place of coordinates, if the server can look it up"
                {...text('address')}
              />
            </div>
          )}
          <ShapePicture draft={draft} stored={loaded?.geofence} />
        </Section>
        <Section title="Operating hours">
          <WeekEditor hours={draft.hours} problem={problemAt(save.error, 'operatingHours')} onChange={set('hours')} />
        </Section>
        <Section title="Metadata">
          <MetadataEditor
            rows={draft.metadata}
            problem={problemAt(save.error, 'metadata')}
            onChange={set('metadata')}
          />
        </Section>
        <Section title="Events">
          <div className="form-grid">
            <TextField
              label="Dwell threshold"
              unit="min"
              inputMode="decimal"
              hint="Empty: the project's default"
              {...text('dwellThreshold')}
            />
            <SelectField
              label="Stop detection"
              value={draft.stopDetection}
              options={stops}
              disabled={!isOwner}
              onChange={set('stopDetection')}
            />
            <TextField label="Only for users" hint="User ids, comma-separated" {...text('userIds')} />
            <TextField
              label="Only from addresses"
              hint="IP addresses, 10.0.0.* or ranges, comma-separated"
              {...text('ip')}
            />
            <TextField
              label="Disable after"
              placeholder="2029-01-31"
              hint="A date, or a date and time"
              {...text('disableAfter')}
            />
            <TextField
              label="Delete after"
              placeholder="2029-01-31"
              hint="A date, or a date and time"
              {...text('deleteAfter')}
            />
          </div>
        </Section>
        {loaded && (
          <p className="quiet small">
            <code>{id}</code> · created {absoluteTime(loaded.geofence.createdAt)} · updated{' '}
            {absoluteTime(loaded.geofence.updatedAt)}
          </p>
        )}
        <FormEnd
          error={save.error}
          fields={fields}
          isBusy={save.isPending}
          action={id === undefined ? 'Create geofence' : 'Save changes'}
          list="/geofences"
        />
      </form>
      {isDeleting && (
        <Confirm
          title={`Delete ${loaded?.geofence.description}?`}
          action="Delete"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/geofences') })}
        >
          <p>Devices that are inside leave without an event. This can not be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}
