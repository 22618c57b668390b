/** The settings of the environment: when events are made, and who may use publishable keys. */
import { useQueryClient } from '@tanstack/react-query';
import { type Answer, callIn } from '../client/call';
import { forEditing, useApi } from '../client/hooks';
import { Button, Check, Loading, Page, SelectField, TextArea, TextField } from '../components/controls';
import { DeleteProject } from '../components/delete-project';
import { Form, FormFields } from '../components/form';
import { LoadProblem } from '../components/load-problem';
import { useToasts } from '../components/toasts';
import { patchOf, problemAt, quantityOf } from '../forms/draft';
import { useSavedForm } from '../forms/edit';
import { FormEnd, FormProblem, Section } from '../forms/parts';
import { environmentNames, sessionKey, useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/settings'>;

export default function SettingsView() {
  const loaded = useApi('GET /v1/settings', {}, forEditing);
  const { environment } = useWorkspace();
  return (
    <Page
      title="Settings"
      isNarrow
      intro={`How events are made in ${environmentNames[environment]}. Changes apply to later locations.`}
    >
      <ProjectName />
      <LoadProblem query={loaded} />
      {loaded.data ? <SettingsForm loaded={loaded.data} /> : !loaded.error && <Loading />}
      {/* Below the form, which would push it down as it loads. */}
      {!loaded.isPending && <DeleteProject />}
    </Page>
  );
}

/** The name of the project, for owners. It is the same in both environments. */
function ProjectName() {
  const { project, isOwner } = useWorkspace();
  const loaded = useApi('GET /v1/projects/{id}', { path: { id: project._id } }, { enabled: isOwner, ...forEditing });
  if (!isOwner || loaded.data === undefined) return null;
  return <ProjectNameForm loaded={loaded.data} />;
}

const nameOf = ({ project: { name } }: Answer<'GET /v1/projects/{id}'>) => ({ name });

function ProjectNameForm({ loaded }: { readonly loaded: Answer<'GET /v1/projects/{id}'> }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const path = { id: loaded.project._id };
  const form = useSavedForm(
    loaded,
    nameOf,
    {
      load: (scope) => callIn(scope, 'GET /v1/projects/{id}', { path }),
      save: (scope, { draft, ifMatch }) => callIn(scope, 'PATCH /v1/projects/{id}', { path, body: draft, ifMatch }),
    },
    'projects',
  );
  async function submit() {
    if ((await form.save()) === undefined) return;
    toasts.say('The project is renamed.');
    await client.invalidateQueries({ queryKey: sessionKey });
  }
  return (
    <Form label="Project" error={form.error} onSubmit={() => void submit()}>
      <Section title="Project">
        <div className="name-row">
          <FormFields isSaving={form.isSaving}>
            <TextField label="Name" {...form.text('name')} />
          </FormFields>
          <Button type="submit" isBusy={form.isSaving} disabled={!form.isChanged}>
            Rename
          </Button>
        </div>
        <p className="quiet small">
          Its id is <code>{path.id}</code>. The name is that of Test and Live. All below is of this environment only.
        </p>
        <FormProblem form={form} fields={['name']} />
      </Section>
    </Form>
  );
}

const confidences = [
  { value: '1', label: '1: low, every event' },
  { value: '2', label: '2: medium, more likely than not' },
  { value: '3', label: '3: high, certain within the accuracy' },
] as const;

const fields = ['defaultDwellThreshold', 'minimumConfidence', 'allowedOrigins', 'beaconUuids', 'beaconUids'];

const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter((line) => line !== '');

interface Draft {
  readonly stopDetection: boolean;
  readonly bufferEntries: boolean;
  readonly bufferExits: boolean;
  readonly restrictToOperatingHours: boolean;
  readonly dwellEvents: boolean;
  readonly defaultDwellThreshold: string;
  readonly minimumConfidence: '1' | '2' | '3';
  readonly allowedOrigins: string;
  readonly beaconUuids: string;
  readonly beaconUids: string;
}

const draftOf = ({ settings }: Loaded): Draft => ({
  ...settings,
  defaultDwellThreshold: settings.defaultDwellThreshold === null ? '' : String(settings.defaultDwellThreshold),
  minimumConfidence: String(settings.minimumConfidence) as Draft['minimumConfidence'],
  allowedOrigins: (settings.allowedOrigins ?? []).join('\n'),
  beaconUuids: settings.beaconUuids.join('\n'),
  beaconUids: settings.beaconUids.join('\n'),
});

const bodyOf = (draft: Draft) => ({
  ...draft,
  defaultDwellThreshold: quantityOf(draft.defaultDwellThreshold) ?? null,
  minimumConfidence: Number(draft.minimumConfidence),
  allowedOrigins: linesOf(draft.allowedOrigins).length > 0 ? linesOf(draft.allowedOrigins) : null,
  beaconUuids: linesOf(draft.beaconUuids),
  beaconUids: linesOf(draft.beaconUids),
});

function SettingsForm({ loaded }: { readonly loaded: Loaded }) {
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const form = useSavedForm(
    loaded,
    draftOf,
    {
      load: (scope) => callIn(scope, 'GET /v1/settings', {}),
      save: (scope, { initial, draft, ifMatch }) =>
        callIn(scope, 'PATCH /v1/settings', { body: patchOf(bodyOf(initial), bodyOf(draft)), ifMatch }),
    },
    'settings',
  );
  const { set, text } = form;
  const check = (
    name: 'stopDetection' | 'bufferEntries' | 'bufferExits' | 'restrictToOperatingHours' | 'dwellEvents',
  ) => ({ isChecked: form.draft[name], onChange: set(name) });
  async function submit() {
    if (await form.save()) toasts.say('The settings are saved.');
  }
  return (
    <Form className="stack" error={form.error} onSubmit={() => void submit()}>
      <FormFields className="stack" isReadOnly={!isOwner} isSaving={form.isSaving}>
        <Section title="Entries and exits">
          <Check
            label="Stop detection"
            hint="Enter only while the device is stopped or its app is in the foreground. Geofences may differ."
            {...check('stopDetection')}
          />
          <Check
            label="Buffer entries"
            hint="Enter as soon as the boundary is within the reported accuracy. Exits are then late too."
            {...check('bufferEntries')}
          />
          <Check
            label="Buffer exits"
            hint="Leave only when the boundary is further away than the reported accuracy."
            {...check('bufferExits')}
          />
          <Check
            label="Restrict to operating hours"
            hint="A geofence that is closed makes no events."
            {...check('restrictToOperatingHours')}
          />
          <SelectField
            label="Minimum confidence"
            hint="Events below it are not made."
            value={form.draft.minimumConfidence}
            options={confidences}
            problem={problemAt(form.error, 'minimumConfidence')}
            onChange={set('minimumConfidence')}
          />
        </Section>
        <Section title="Dwells">
          <Check
            label="Dwell events"
            hint="One event per visit, when a device has stayed for the threshold."
            {...check('dwellEvents')}
          />
          <TextField
            label="Default threshold"
            unit="min"
            inputMode="decimal"
            hint="For geofences without one of their own. Empty: none"
            {...text('defaultDwellThreshold')}
          />
        </Section>
        <Section title="Publishable keys">
          <TextArea
            label="Allowed origins"
            isCode
            rows={3}
            placeholder="https://example.com"
            hint="One per line. Only their pages may use publishable keys. Empty: all pages. Not for native apps."
            {...text('allowedOrigins')}
          />
        </Section>
        <Section title="Beacons that SDKs range everywhere">
          <TextArea label="iBeacon UUIDs" isCode rows={3} hint="One per line" {...text('beaconUuids')} />
          <TextArea label="Eddystone UIDs" isCode rows={3} hint="One per line, 20 hex digits" {...text('beaconUids')} />
        </Section>
      </FormFields>
      <FormEnd form={form} fields={fields} action="Save settings" />
    </Form>
  );
}
