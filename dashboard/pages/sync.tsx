/** The nightly sync: where files are read from, what the last run did, and when the next one is. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Sync } from '../../client/types';
import { type Answer, call, callIn, Failure, isNotFound, type Scope, untilGone } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { useAction } from '../components/action';
import {
  Badge,
  Button,
  Check,
  Confirm,
  Empty,
  Loading,
  Notice,
  Page,
  Segments,
  TextArea,
  TextField,
} from '../components/controls';
import { counted, grouped } from '../components/counts';
import { Form, FormFields } from '../components/form';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { sizeText } from '../components/sizes';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import type { DraftFields } from '../forms/draft';
import { useSavedForm } from '../forms/edit';
import { FormEnd, Section } from '../forms/parts';
import { changeOf, draftOf, newSync, type SyncDraft, syncFields } from '../forms/sync';
import { ImportTable, useRequesters } from '../importing/history';
import { areMailsSent } from '../state/server-facts';
import { useWorkspace } from '../state/session';
import '../styles/import.css';

type Loaded = Answer<'GET /v1/sync'>;

const quickMs = 1_500;
const slowMs = 20_000;
const isActive = ({ status }: Sync): boolean => status === 'due' || status === 'running';

export default function SyncPage() {
  const { isOwner } = useWorkspace();
  const [isCreating, setCreating] = useState(false);
  const loaded = useApi(
    'GET /v1/sync',
    {},
    { refetchInterval: ({ state }) => (state.data && isActive(state.data.sync) ? quickMs : slowMs) },
  );
  const isAbsent = isNotFound(loaded.error);
  const isPresent = loaded.data !== undefined && !isAbsent;
  useEffect(() => {
    if (isPresent) setCreating(false);
  }, [isPresent]);
  return (
    <Page
      title="Sync"
      isNarrow
      intro="Reads files of geofences every night from web servers or object storage, and imports changed ones."
      actions={isOwner && loaded.data && !isAbsent && <RunNow sync={loaded.data.sync} />}
    >
      {loaded.isPending && <Loading />}
      {!isAbsent && <LoadProblem query={loaded} />}
      {isAbsent && !isCreating && (
        <div className="card">
          <Empty
            title="No sync yet"
            actions={
              isOwner && (
                <Button look="primary" onClick={() => setCreating(true)}>
                  Set up the sync
                </Button>
              )
            }
          >
            <p>Name the files, and Fenceline keeps this environment as they are: every night, only what changed.</p>
          </Empty>
        </div>
      )}
      {isPresent && <State sync={loaded.data.sync} />}
      {/* One form in all states: somebody else may set up or delete the sync while it is filled in. */}
      {(isPresent || isAbsent) && <SyncForm loaded={isPresent ? loaded.data : undefined} isWanted={isCreating} />}
      {!loaded.isPending && <PastImports />}
    </Page>
  );
}

function RunNow({ sync }: { readonly sync: Sync }) {
  const run = useAction(() => call('POST /v1/sync/run', {}), 'sync', 'imports');
  return (
    <Button
      icon="sync"
      isBusy={run.isPending || isActive(sync)}
      disabled={!sync.enabled}
      onClick={() => run.mutate(undefined)}
    >
      {isActive(sync) ? 'Running' : 'Run now'}
    </Button>
  );
}

const statuses = {
  off: { tone: 'neutral', text: 'Off' },
  waiting: { tone: 'success', text: 'On' },
  due: { tone: 'info', text: 'About to run' },
  running: { tone: 'info', text: 'Running' },
} as const;

const results = {
  running: { tone: 'info', text: 'Running' },
  succeeded: { tone: 'success', text: 'Succeeded' },
  failed: { tone: 'danger', text: 'Failed' },
  interrupted: { tone: 'warning', text: 'Interrupted' },
} as const;

const reasons = { saved: 'after it was saved', requested: 'on request', nightly: 'at night' } as const;

function State({ sync }: { readonly sync: Sync }) {
  const { status, lastRun, nextRunAt } = sync;
  return (
    <section className="card" aria-label="State" aria-live="polite">
      <div className="card-head">
        <h2>State</h2>
        <Badge tone={statuses[status].tone}>{statuses[status].text}</Badge>
      </div>
      <dl className="facts card-body">
        <dt>Next run</dt>
        <dd>
          {status === 'running' ? (
            'It is running now'
          ) : nextRunAt === undefined ? (
            'None: the sync is off'
          ) : status === 'due' ? (
            'Within seconds'
          ) : (
            <>
              {absoluteTime(nextRunAt)}{' '}
              <span className="quiet">
                (<RelativeTime time={nextRunAt} />)
              </span>
            </>
          )}
        </dd>
        <dt>Last run</dt>
        <dd>
          {lastRun === undefined ? (
            'None yet'
          ) : (
            <>
              <Badge tone={results[lastRun.result].tone}>{results[lastRun.result].text}</Badge>{' '}
              {absoluteTime(lastRun.startedAt)}{' '}
              <span className="quiet">
                (<RelativeTime time={lastRun.startedAt} />, {reasons[lastRun.reason]})
              </span>
            </>
          )}
        </dd>
        {lastRun?.message !== undefined && (
          <>
            <dt>Result</dt>
            <dd>{lastRun.message}</dd>
          </>
        )}
        {lastRun?.mailProblem !== undefined && (
          <>
            <dt>Mail</dt>
            <dd>{lastRun.mailProblem}</dd>
          </>
        )}
      </dl>
      {lastRun && lastRun.files.length > 0 && <Files files={lastRun.files} />}
    </section>
  );
}

type File = NonNullable<Sync['lastRun']>['files'][number];

const fileResults = {
  imported: { tone: 'success', text: 'Imported' },
  rejected_rows: { tone: 'warning', text: 'With bad rows' },
  unchanged: { tone: 'neutral', text: 'Not changed, skipped' },
  failed: { tone: 'danger', text: 'Failed' },
  skipped: { tone: 'neutral', text: 'Skipped' },
} as const;

function Files({ files }: { readonly files: readonly File[] }) {
  return (
    <ul className="sync-files" aria-label="Files of the last run">
      {files.map((file) => (
        <li key={file.name} className="list-row center">
          <div className="grow">
            <p className="truncate" title={file.name}>
              <code>{file.name}</code>
            </p>
            <p className="quiet small">{file.message ?? summaryOf(file)}</p>
          </div>
          <Badge tone={fileResults[file.result].tone}>{fileResults[file.result].text}</Badge>
          {file.import !== undefined && (
            <Link className="button compact" href={`/imports/${file.import}`} aria-label={`Rows of ${file.name}`}>
              Rows
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

function summaryOf({ result, counts, bytes }: File): string {
  const size = bytes === undefined ? '' : `${sizeText(bytes)}: `;
  if (counts) {
    const { rows, created, updated, unchanged, rejected } = counts;
    const applied = `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged`;
    return `${size}${counted(rows, 'row')}, ${applied}, ${grouped(rejected)} bad`;
  }
  if (result === 'skipped') return 'Another file failed, so nothing was imported';
  return result === 'unchanged' ? 'The file is the one that was imported last' : '';
}

const protocols = [
  { value: 'http', label: 'Web addresses' },
  { value: 's3', label: 'Object storage (S3)' },
] as const;

const draftIn = (loaded: Loaded | undefined): SyncDraft => (loaded ? draftOf(loaded.sync) : newSync);

/** Sets the sync up, unless somebody else has set one up meanwhile: that would replace it in silence. */
async function createSync(scope: Scope, draft: SyncDraft): Promise<Loaded> {
  const isThere = await callIn(scope, 'GET /v1/sync', {}).then(
    () => true,
    (error) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
  if (isThere) throw new Failure(412, { type: 'precondition_failed' });
  return callIn(scope, 'PUT /v1/sync', { body: changeOf(undefined, draft) });
}

interface FormProps {
  /** Undefined: there is no sync. */
  readonly loaded: Loaded | undefined;
  /** Whether an owner has asked for the form. That of a stored sync is always shown. */
  readonly isWanted: boolean;
}

function SyncForm({ loaded, isWanted }: FormProps) {
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const [isDeleting, setDeleting] = useState(false);
  const form = useSavedForm(
    loaded,
    draftIn,
    {
      load: (scope) => callIn(scope, 'GET /v1/sync', {}),
      save: (scope, { initial, draft, ifMatch }) =>
        ifMatch === undefined
          ? createSync(scope, draft)
          : // A PUT of one that is gone would make a new one of the changed fields, and miss the others.
            callIn(scope, 'PATCH /v1/sync', { body: changeOf(initial, draft), ifMatch }),
      create: createSync,
    },
    'sync',
    'imports',
  );
  const { draft, set, text } = form;
  const wasDeleted = loaded === undefined && !isWanted;
  const remove = useChange(async () => {
    await untilGone(call('DELETE /v1/sync', {}));
    // Nobody is asked about changes of what is gone.
    form.discard();
    setDeleting(false);
    toasts.say('The sync is deleted.');
  }, 'sync');
  async function submit(save = form.save) {
    const saved = await save();
    if (saved) toasts.say(saved.sync.enabled ? 'The sync is saved, and runs now.' : 'The sync is saved.');
  }
  if (loaded === undefined && !isWanted && !form.isChanged) return null;
  return (
    <Form className="stack" error={form.error} onSubmit={() => void submit()}>
      {/* A save that was refused says it too. */}
      {wasDeleted && !isNotFound(form.error) && (
        <Notice tone="warning" role="alert">
          Somebody else has deleted the sync meanwhile. To save is to set it up again.
        </Notice>
      )}
      <FormFields className="stack" isReadOnly={!isOwner} isSaving={form.isSaving}>
        <Section title="Configuration">
          <Check
            label="Read the files every night"
            hint="Otherwise nothing is read, and the configuration stays."
            isChecked={draft.enabled}
            onChange={set('enabled')}
          />
          <TextField
            label="Notification email"
            type="email"
            hint={
              areMailsSent
                ? 'Gets a mail about each run, successful or not. Empty: nobody'
                : 'No mails are sent here. A mail about each run goes to the outbox folder. Empty: none'
            }
            {...text('notificationEmail')}
          />
          {isOwner ? (
            <Segments legend="Source" value={draft.protocol} options={protocols} onChange={set('protocol')} />
          ) : (
            <p className="label">{protocols.find(({ value }) => value === draft.protocol)?.label}</p>
          )}
          {draft.protocol === 'http' ? (
            <TextArea
              label="URLs"
              isCode
              rows={4}
              placeholder="https://example.com/stores.csv"
              hint="One per line, up to 20. Names that end in .geojson or .ndjson have that format, others are CSV."
              {...text('urls')}
            />
          ) : (
            <Storage form={form} isStored={loaded !== undefined} />
          )}
        </Section>
      </FormFields>
      <FormEnd
        form={{ ...form, recreate: () => void submit(form.saveAsNew) }}
        fields={syncFields}
        action="Save and run"
      />
      {isOwner && loaded && (
        <div className="spread">
          <p className="quiet">Deleting the sync deletes its credentials as well. The geofences stay.</p>
          <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete the sync
          </Button>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title="Delete the sync?"
          action="Delete"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          <p>Files are no longer read. The geofences that came from them stay.</p>
        </Confirm>
      )}
    </Form>
  );
}

interface StorageProps {
  readonly form: DraftFields<SyncDraft>;
  /** Whether there is a sync. The credentials of one that was deleted are gone. */
  readonly isStored: boolean;
}

function Storage({ form: { draft, change, text }, isStored }: StorageProps) {
  const { isOwner } = useWorkspace();
  const isKept = isStored && draft.accessKeyId === undefined;
  return (
    <>
      <div className="form-grid">
        <TextField label="Region" placeholder="eu-central-1" {...text('region')} />
        <TextField label="Bucket" {...text('bucket')} />
      </div>
      <TextField
        label="Endpoint"
        type="url"
        placeholder="https://s3.example.com"
        hint="Of a compatible service. Empty: Amazon S3"
        {...text('endpoint')}
      />
      <TextArea
        label="Keys"
        isCode
        rows={4}
        placeholder="stores.csv"
        hint="Of the objects, one per line, up to 20"
        {...text('keys')}
      />
      {isKept && (
        <div className="spread">
          <p className="quiet">Credentials are stored, encrypted. They are never shown again.</p>
          {isOwner && (
            <Button onClick={() => change({ accessKeyId: '', secretAccessKey: '' })}>Replace the credentials</Button>
          )}
        </div>
      )}
      {!isKept && isOwner && (
        <div className="form-grid">
          <TextField label="Access key id" isCode autoComplete="off" {...text('accessKeyId')} />
          <TextField
            label="Secret access key"
            isCode
            type="password"
            autoComplete="new-password"
            {...text('secretAccessKey')}
          />
        </div>
      )}
    </>
  );
}

const maxShown = 100;

/** What earlier runs have imported, as far as the history of imports goes back. */
function PastImports() {
  const nameOf = useRequesters();
  const { data } = useApi(
    'GET /v1/imports',
    { query: { resource: 'geofences', limit: maxShown } },
    { refetchInterval: slowMs },
  );
  const imports = data?.imports.filter(({ requestedBy }) => requestedBy.kind === 'sync') ?? [];
  if (imports.length === 0) return null;
  return (
    <section className="card" aria-label="History">
      <div className="card-head">
        <h2>History</h2>
        <Link href="/imports">All imports</Link>
      </div>
      <ImportTable imports={imports} nameOf={nameOf} />
    </section>
  );
}
