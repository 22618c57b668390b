/** The form of one beacon, new or existing. */
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { type Answer, call, Failure, revisionOf } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Button, Check, Confirm, Loading, Notice, Page, Segments, TextField } from '../components/controls';
import { Icon } from '../components/icons';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { type BeaconDraft, bodyOf, draftOf, newBeacon } from '../forms/beacon';
import { pairOf, patchOf, problemAt, refuseTaken } from '../forms/draft';
import { MetadataEditor } from '../forms/metadata';
import { FormEnd, Section, showProblem } from '../forms/parts';
import { useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/beacons/{id}'>;

export default function BeaconView() {
  const { id } = useParams<{ id: string }>();
  return id === 'new' ? <BeaconForm key="new" loaded={undefined} /> : <ExistingBeacon key={id} id={id} />;
}

const back = (
  <Link href="/beacons" className="back">
    <Icon name="back" size={14} /> Beacons
  </Link>
);

function ExistingBeacon({ id }: { readonly id: string }) {
  const loaded = useApi('GET /v1/beacons/{id}', { path: { id } }, { staleTime: Number.POSITIVE_INFINITY });
  if (loaded.error) {
    return (
      <Page title="Beacon" above={back} isNarrow>
        <Notice tone="danger">
          {loaded.error instanceof Failure && loaded.error.status === 404
            ? 'There is no such beacon in this environment.'
            : messageOf(loaded.error)}
        </Notice>
      </Page>
    );
  }
  if (loaded.data === undefined) return <Loading />;
  // Another revision begins with another form.
  return <BeaconForm key={revisionOf(loaded.data)} loaded={loaded.data} />;
}

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

/** Creates the beacon, unless its pair exists: that would replace it in silence. */
async function create(body: Record<string, unknown>) {
  const pair = pairOf(body);
  if (pair) refuseTaken(pair, (await call('GET /v1/beacons', { query: { ...pair, limit: 1 } })).beacons);
  return call('POST /v1/beacons', { body: body as never });
}

function BeaconForm({ loaded }: { readonly loaded: Loaded | undefined }) {
  const { isOwner } = useWorkspace();
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const [initial] = useState(() => (loaded ? draftOf(loaded.beacon) : newBeacon));
  const [draft, setDraft] = useState(initial);
  const [isDeleting, setDeleting] = useState(false);
  const id = loaded?.beacon._id;
  const save = useChange(async () => {
    const body = bodyOf(draft);
    if (id === undefined) return create(body);
    const patch = patchOf(bodyOf(initial), body);
    return call('PATCH /v1/beacons/{id}', { path: { id }, body: patch, ifMatch: revisionOf(loaded) });
  }, 'beacons');
  const remove = useChange(() => call('DELETE /v1/beacons/{id}', { path: { id: id! } }), 'beacons');

  const set =
    <Name extends keyof BeaconDraft>(name: Name) =>
    (value: BeaconDraft[Name]) =>
      setDraft((all) => ({ ...all, [name]: value }));
  const text = (name: keyof BeaconDraft, param: string = name) => ({
    value: draft[name] as string,
    problem: problemAt(save.error, param),
    onChange: set(name) as (value: string) => void,
    disabled: !isOwner,
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate(undefined, {
      onSuccess: ({ beacon }) => {
        toasts.say(`${beacon.description} is saved.`);
        navigate('/beacons');
      },
      onError: showProblem,
    });
  }
  return (
    <Page
      title={loaded?.beacon.description ?? 'New beacon'}
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
              hint="Groups beacons, for example entrance"
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
            hint="A disabled beacon makes no events."
            isChecked={draft.enabled}
            isDisabled={!isOwner}
            onChange={set('enabled')}
          />
        </Section>
        <Section title="Signal">
          <Segments legend="Type" value={draft.type} options={types} onChange={set('type')} />
          {draft.type === 'ibeacon' ? (
            <div className="form-grid">
              <TextField
                className="wide"
                label="UUID"
                isCode
                hint="32 hex digits, with or without hyphens"
                {...text('uuid')}
              />
              <TextField label="Major" inputMode="numeric" hint="0 to 65,535" {...text('major')} />
              <TextField label="Minor" inputMode="numeric" hint="0 to 65,535" {...text('minor')} />
            </div>
          ) : (
            <div className="form-grid">
              <TextField label="Namespace (UID)" isCode hint="20 hex digits" {...text('uid')} />
              <TextField label="Instance" isCode hint="12 hex digits" {...text('instance')} />
            </div>
          )}
        </Section>
        <Section title="Place">
          <div className="form-grid">
            <TextField label="Latitude" inputMode="decimal" {...text('latitude', 'coordinates')} />
            <TextField label="Longitude" inputMode="decimal" {...text('longitude')} />
          </div>
        </Section>
        <Section title="Metadata">
          <MetadataEditor
            rows={draft.metadata}
            problem={problemAt(save.error, 'metadata')}
            onChange={set('metadata')}
          />
        </Section>
        {loaded && (
          <p className="quiet small">
            <code>{id}</code> · created {absoluteTime(loaded.beacon.createdAt ?? '')} · updated{' '}
            {absoluteTime(loaded.beacon.updatedAt ?? '')}
          </p>
        )}
        <FormEnd
          error={save.error}
          fields={fields}
          isBusy={save.isPending}
          action={id === undefined ? 'Create beacon' : 'Save changes'}
          list="/beacons"
        />
      </form>
      {isDeleting && (
        <Confirm
          title={`Delete ${loaded?.beacon.description}?`}
          action="Delete"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/beacons') })}
        >
          <p>Devices that are near leave without an event. This can not be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}
