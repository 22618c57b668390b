/**
 * The form of one geofence or beacon: its draft, saving, conflicts, deletion, and problems at fields. It is framed as a
 * page, or as a panel beside the map.
 */
import { type ComponentType, type ReactNode, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { call, callIn, isNotFound, revisionOf, untilGone } from '../client/call';
import { forEditing, useApi, useChange } from '../client/hooks';
import { Button, Confirm, Loading, Notice, Page } from '../components/controls';
import { capitalized } from '../components/counts';
import { Form, FormFields } from '../components/form';
import { Icon } from '../components/icons';
import { LoadProblem } from '../components/load-problem';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { listAddress } from '../state/list-address';
import { useWorkspace } from '../state/session';
import { useUnsaved } from '../state/unsaved';
import { createRecord } from './creation';
import {
  type DraftFields,
  draftFields,
  isEqual,
  problemAt,
  type RecordBody,
  refuseMetadata,
  type WithMetadata,
} from './draft';
import { unlessDone } from './edit';
import { FormEnd } from './parts';

interface Named {
  readonly _id: string;
  readonly description: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** A kind of record that has a form. */
export interface RecordKind<Row extends Named, Draft> {
  /** As in the paths of the API and of the dashboard. */
  readonly resource: 'geofences' | 'beacons';
  /** As in the answers of the API, and in sentences. */
  readonly singular: 'geofence' | 'beacon';
  readonly blank: Draft;
  /** The fields of the API that show problems of their own. */
  readonly fields: readonly string[];
  /** What a deletion does to devices. */
  readonly consequence: string;
  draftOf(row: Row): Draft;
  /** Returns the body of the API. Fields that are not set are absent. */
  bodyOf(draft: Draft): Record<string, unknown>;
  /** Returns the merge patch that turns a body into another. */
  patchOf(before: RecordBody, after: RecordBody): Record<string, unknown>;
  /** The sections of the form. */
  readonly Sections: ComponentType<{ readonly form: RecordForm<Row, Draft> }>;
}

/** A record as the server has it. */
export interface Stored<Row> {
  readonly record: Row;
  readonly revision: string | undefined;
}

/** What the sections and the frames of a form need. */
export interface RecordForm<Row extends Named, Draft> extends DraftFields<Draft> {
  readonly kind: RecordKind<Row, Draft>;
  /** Undefined: a new record. */
  readonly stored: Row | undefined;
  readonly isChanged: boolean;
  /** Viewers see the form, but change nothing. */
  readonly isOwner: boolean;
  readonly error: unknown;
  readonly isSaving: boolean;
  readonly deletion: { readonly isBusy: boolean; readonly error: unknown };
  /** Gives up what is typed, so that nobody is asked before the form is left. */
  forget(): void;
  /**
   * Saves the draft. Resolves to the record, or to undefined if it was refused: `error` says why.
   * @param isNew whether it becomes a new record, in place of one that is gone. Default: only if none is stored.
   */
  save(isNew?: boolean): Promise<Row | undefined>;
  /** Deletes the record. Resolves to whether that succeeded. */
  remove(): Promise<boolean>;
}

type Kinds = RecordKind<never, never>['resource'];
const oneOf = <Resource extends Kinds>(resource: Resource) => `/v1/${resource}/{id}` as const;

const rowIn = <Row extends Named, Draft>({ singular }: RecordKind<Row, Draft>, answer: object): Row =>
  (answer as Record<string, Row>)[singular]!;

interface Begin<Row, Draft> {
  readonly stored?: Stored<Row> | undefined;
  readonly start?: Partial<Draft> | undefined;
}

/** Returns the draft with which a form begins. */
export const firstDraft = <Row extends Named, Draft>(
  kind: RecordKind<Row, Draft>,
  { stored, start }: Begin<Row, Draft>,
): Draft => (stored ? kind.draftOf(stored.record) : { ...kind.blank, ...start });

/** A draft, and what takes a change of it. */
type DraftState<Draft> = readonly [Draft, (change: (draft: Draft) => Draft) => void];

/**
 * Holds the form of a record, of the stored one, or of a new one that begins with `start`, and asks before it is left
 * with changes. Give the component that calls it another key for another revision, as {@link StoredRecord} does.
 * @param drafts holds the draft elsewhere, such as where earlier ones are remembered.
 */
export function useRecordForm<Row extends Named, Draft extends WithMetadata>(
  kind: RecordKind<Row, Draft>,
  { stored, start, drafts }: Begin<Row, Draft> & { readonly drafts?: DraftState<Draft> | undefined } = {},
): RecordForm<Row, Draft> {
  const { isOwner } = useWorkspace();
  const [initial] = useState(() => firstDraft(kind, { stored, start }));
  const own = useState(initial);
  const [draft, setDraft] = drafts ?? own;
  const id = stored?.record._id;
  const saving = useChange(async (isNew: boolean, scope) => {
    refuseMetadata(draft.metadata);
    const body = kind.bodyOf(draft);
    if (isNew || id === undefined) return createRecord(scope, kind.resource, body);
    const path = { id };
    const patch = kind.patchOf(kind.bodyOf(initial), body) as never;
    return unlessDone(
      callIn(scope, `PATCH ${oneOf(kind.resource)}`, { path, body: patch, ifMatch: stored?.revision }),
      () => callIn(scope, `GET ${oneOf(kind.resource)}`, { path }),
      (present) => isEqual(kind.bodyOf(kind.draftOf(rowIn(kind, present))), body),
    );
  }, kind.resource);
  const removing = useChange(
    () => untilGone(call(`DELETE ${oneOf(kind.resource)}`, { path: { id: id! } })),
    kind.resource,
  );

  const isChanged = draft !== initial && !isEqual(kind.bodyOf(draft), kind.bodyOf(initial));
  const forget = useUnsaved(isChanged);
  return {
    ...draftFields(draft, setDraft, (param) => problemAt(saving.error, param)),
    kind,
    stored: stored?.record,
    isChanged,
    isOwner,
    error: saving.error,
    isSaving: saving.isPending,
    deletion: { isBusy: removing.isPending, error: removing.error },
    forget,
    // The promise also resolves when another revision has replaced this form meanwhile; a callback would not be called.
    async save(isNew = false) {
      try {
        const answer = await saving.mutateAsync(isNew);
        forget();
        return rowIn(kind, answer);
      } catch {
        return undefined;
      }
    },
    async remove() {
      try {
        await removing.mutateAsync(undefined);
        forget();
        return true;
      } catch {
        return false;
      }
    },
  };
}

interface StoredProps<Row extends Named, Draft> {
  readonly kind: RecordKind<Row, Draft>;
  readonly id: string;
  /** Frames what is said while there is no record to show. */
  frame(content: ReactNode): ReactNode;
  children(stored: Stored<Row>): ReactNode;
}

/** Loads a record, and shows another form for another revision of it. */
export function StoredRecord<Row extends Named, Draft>({ kind, id, frame, children }: StoredProps<Row, Draft>) {
  const loaded = useApi(`GET ${oneOf(kind.resource)}`, { path: { id } }, forEditing);
  // A form that is open stays, unless its record is gone.
  if (loaded.error && (loaded.data === undefined || isNotFound(loaded.error))) {
    const absent = {
      title: `This ${kind.singular} does not exist`,
      reason: 'It was deleted, or belongs to the other environment.',
    };
    return frame(<LoadProblem query={loaded} absent={absent} />);
  }
  if (loaded.data === undefined) return frame(<Loading />);
  const revision = revisionOf(loaded.data);
  return <Keyed key={`${id} ${revision}`}>{children({ record: rowIn(kind, loaded.data), revision })}</Keyed>;
}

const Keyed = ({ children }: { readonly children: ReactNode }) => children;

interface FrameProps<Row extends Named, Draft> {
  readonly form: RecordForm<Row, Draft>;
  onSaved(record: Row): void;
  onDeleted(): void;
}

/** The fields and buttons of a form, without its heading. */
function Body<Row extends Named, Draft>({
  form,
  onSaved,
  cancel,
}: Pick<FrameProps<Row, Draft>, 'form' | 'onSaved'> & { readonly cancel: ReactNode }) {
  const { kind, stored, isOwner, error } = form;
  const toasts = useToasts();
  async function submit(isNew = false) {
    const record = await form.save(isNew);
    if (record === undefined) return;
    toasts.say(`${record.description} is saved.`);
    onSaved(record);
  }
  return (
    <Form className="stack" error={error} onSubmit={() => void submit()}>
      <FormFields className="stack" isReadOnly={!isOwner} isSaving={form.isSaving}>
        <kind.Sections form={form} />
      </FormFields>
      {stored && (
        <p className="quiet small">
          <code>{stored._id}</code> · created {absoluteTime(stored.createdAt ?? '')} · updated{' '}
          {absoluteTime(stored.updatedAt ?? '')}
        </p>
      )}
      <FormEnd
        form={{ ...form, recreate: () => void submit(true) }}
        fields={kind.fields}
        action={stored ? 'Save changes' : `Create ${kind.singular}`}
        cancel={cancel}
      />
    </Form>
  );
}

/** The button that deletes a stored record, and its question. Nothing for viewers and for new records. */
function DeleteButton<Row extends Named, Draft>({ form, onDeleted }: Omit<FrameProps<Row, Draft>, 'onSaved'>) {
  const { kind, stored, isOwner, deletion } = form;
  const [isAsking, setAsking] = useState(false);
  if (stored === undefined || !isOwner) return null;
  return (
    <>
      <Button look="danger" icon="trash" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete ${stored.description}?`}
          action="Delete"
          isBusy={deletion.isBusy}
          problem={deletion.error ? messageOf(deletion.error) : undefined}
          onClose={() => setAsking(false)}
          onConfirm={() => void form.remove().then((isDeleted) => isDeleted && onDeleted())}
        >
          <p>{kind.consequence} This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

const titleOf = <Row extends Named, Draft>({ kind, stored }: RecordForm<Row, Draft>): string =>
  stored?.description ?? `New ${kind.singular}`;

/** A form beside something else, which it does not cover. */
export function RecordPanel<Row extends Named, Draft>({
  form,
  onSaved,
  onDeleted,
  onClose,
}: FrameProps<Row, Draft> & { onClose(): void }) {
  function cancel() {
    form.forget();
    onClose();
  }
  return (
    <section className="record-panel" aria-label={titleOf(form)}>
      <div className="record-panel-head">
        <h2 className="grow truncate left" dir="auto">
          {titleOf(form)}
        </h2>
        <DeleteButton form={form} onDeleted={onDeleted} />
        <Button look="plain" icon="close" aria-label="Close the form" onClick={onClose} />
      </div>
      <Body form={form} onSaved={onSaved} cancel={<Button onClick={cancel}>Cancel</Button>} />
    </section>
  );
}

/** The page of one record, new or existing: its id is in the path. */
export function RecordPage<Row extends Named, Draft extends WithMetadata>({ kind }: { kind: RecordKind<Row, Draft> }) {
  const { id } = useParams<{ id: string }>();
  if (id === 'new') return <RecordPageForm key="new" kind={kind} stored={undefined} />;
  const frame = (content: ReactNode) => (
    <Page title={capitalized(kind.singular)} above={<BackToList kind={kind} />} isNarrow>
      {content}
    </Page>
  );
  return (
    <StoredRecord kind={kind} id={id} frame={frame}>
      {(stored) => <RecordPageForm kind={kind} stored={stored} />}
    </StoredRecord>
  );
}

const BackToList = ({ kind: { resource } }: { readonly kind: { readonly resource: string } }) => (
  <Link href={listAddress(resource)} className="back">
    <Icon name="back" size={14} /> {capitalized(resource)}
  </Link>
);

function RecordPageForm<Row extends Named, Draft extends WithMetadata>({
  kind,
  stored,
}: {
  readonly kind: RecordKind<Row, Draft>;
  readonly stored: Stored<Row> | undefined;
}) {
  const form = useRecordForm(kind, { stored });
  const [, navigate] = useLocation();
  const list = listAddress(kind.resource);
  return (
    <Page
      title={titleOf(form)}
      above={<BackToList kind={kind} />}
      isNarrow
      actions={
        <>
          {stored && (
            <Link href={`/map?${kind.singular}=${stored.record._id}`} className="button">
              <Icon name="map" /> Show on map
            </Link>
          )}
          <DeleteButton form={form} onDeleted={() => navigate(list)} />
        </>
      }
    >
      {!stored && !form.isOwner && <Notice>Only owners of the project create {kind.resource}.</Notice>}
      <Body
        form={form}
        onSaved={() => navigate(list)}
        cancel={
          <Link href={list} className="button" onClick={form.forget}>
            Cancel
          </Link>
        }
      />
    </Page>
  );
}
