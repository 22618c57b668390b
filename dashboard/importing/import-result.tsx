/** One import: its progress, its result, and its rows. */
import { type ReactNode, useMemo, useState } from 'react';
import type { Import } from '../../client/types';
import { call, urlOf } from '../client/call';
import { useAction } from '../components/action';
import { Badge, Button, Loading, Notice } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { DownloadLink } from '../components/download-link';
import { LoadProblem } from '../components/load-problem';
import { sizeText } from '../components/sizes';
import type { TableColumn } from '../components/table';
import { VirtualTable } from '../components/virtual-table';
import { useWorkspace } from '../state/session';
import { useImport, useRows } from './follow';
import { Progress } from './progress';
import type { ImportRow } from './rows';
import { actionNames, adviceOf, headlineOf } from './words';

interface Props {
  readonly id: string;
  /** What can be done next, for an import that has ended. */
  readonly actions?: (ended: Import) => ReactNode;
}

export function ImportResult({ id, actions }: Props) {
  const loaded = useImport(id);
  if (loaded.data === undefined) {
    return loaded.error ? <LoadProblem query={loaded} /> : <Loading rows={3} />;
  }
  const { import: shown } = loaded.data;
  const isRunning = shown.status === 'running';
  const advice = adviceOf(shown);
  return (
    <section className="card" aria-label={shown.dryRun ? 'Result of the check' : 'Result of the import'}>
      <div className="card-head">
        <h2>{headlineOf(shown)}</h2>
        <StatusBadge shown={shown} />
      </div>
      <div className="card-body stack">
        {isRunning && <Running shown={shown} />}
        {shown.failure && (
          <Notice tone="danger" role="alert">
            {shown.failure.line > 0 && `Line ${grouped(shown.failure.line)}: `}
            {shown.failure.column} {shown.failure.rule}
          </Notice>
        )}
        <Counts shown={shown} />
        {(advice !== undefined || (actions && !isRunning)) && (
          <div className="spread">
            <p className="quiet import-advice">{advice}</p>
            <span className="row">
              {shown.rejectedFile !== undefined && <RejectedLink path={shown.rejectedFile} />}
              {!isRunning && actions?.(shown)}
            </span>
          </div>
        )}
      </div>
      {!isRunning && <Rows key={shown._id} shown={shown} />}
    </section>
  );
}

const RejectedLink = ({ path }: { readonly path: string }) => (
  <DownloadLink className="button" href={urlOf(path)}>
    Bad rows as CSV
  </DownloadLink>
);

const statuses = {
  running: { tone: 'info', text: 'Running' },
  completed: { tone: 'success', text: 'Completed' },
  failed: { tone: 'danger', text: 'Failed' },
  interrupted: { tone: 'warning', text: 'Stopped' },
} as const;

export function StatusBadge({ shown: { status, rejected } }: { readonly shown: Import }) {
  const { tone, text } = statuses[status];
  if (status === 'completed' && rejected > 0) return <Badge tone="warning">With bad rows</Badge>;
  return <Badge tone={tone}>{text}</Badge>;
}

function Running({ shown }: { readonly shown: Import }) {
  const { isOwner } = useWorkspace();
  const stop = useAction(() => call('POST /v1/imports/{id}/stop', { path: { id: shown._id } }), 'imports');
  const { bytesRead, bytesTotal = 0, rows } = shown;
  return (
    <Progress
      label={shown.dryRun ? 'Progress of the check' : 'Progress of the import'}
      done={bytesRead}
      total={bytesTotal}
      text={`${counted(rows, 'row')}, ${sizeText(bytesRead)} of ${sizeText(bytesTotal)}`}
    >
      {isOwner && (
        <Button isBusy={stop.isPending || stop.isSuccess} onClick={() => stop.mutate(undefined)}>
          Stop
        </Button>
      )}
    </Progress>
  );
}

const actions = ['created', 'updated', 'unchanged', 'rejected'] as const;
type Action = (typeof actions)[number];

function Counts({ shown }: { readonly shown: Import }) {
  return (
    <dl className="counts">
      {actions.map((action) => (
        <div key={action} className={`count ${action}`} data-none={shown[action] === 0 || undefined}>
          <dt>{nameOf(action, shown)}</dt>
          <dd>{grouped(shown[action])}</dd>
        </div>
      ))}
    </dl>
  );
}

function nameOf(action: Action, { dryRun }: Import): string {
  if (action === 'rejected') return 'Bad rows';
  return dryRun && action !== 'unchanged' ? `Would be ${action}` : actionNames[action];
}

const line: TableColumn<ImportRow> = { title: 'Line', className: 'number narrow', cell: (row) => grouped(row.line) };
const pair: readonly TableColumn<ImportRow>[] = [
  { title: 'Tag', className: 'clip-short truncate', cell: ({ tag }) => tag },
  {
    title: 'External id',
    className: 'clip-short truncate',
    cell: ({ externalId }) => <code>{externalId}</code>,
  },
];
const badColumns: readonly TableColumn<ImportRow>[] = [
  line,
  { title: 'Column', className: 'name', cell: ({ column }) => column },
  {
    title: 'Value',
    className: 'clip-short truncate',
    cell: ({ value }) => (value === '' ? <span className="quiet">empty</span> : <code title={value}>{value}</code>),
  },
  { title: 'Rule', className: 'rule', cell: ({ rule }) => rule },
  ...pair.map((column) => ({ ...column, className: `${column.className} secondary` })),
];
const updatedColumns: readonly TableColumn<ImportRow>[] = [
  line,
  ...pair,
  { title: 'Fields that change', cell: ({ changed }) => changed },
];

const columnsOf = (action: Action): readonly TableColumn<ImportRow>[] =>
  action === 'rejected' ? badColumns : action === 'updated' ? updatedColumns : [line, ...pair];

/** Tests whether each word is somewhere in the row. */
function matches(row: ImportRow, words: readonly string[]): boolean {
  const text = [row.line, row.tag, row.externalId, row.column, row.value, row.rule, row.changed]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function Rows({ shown }: { readonly shown: Import }) {
  const loaded = useRows(shown);
  // Only a dry run lists the good rows.
  const offered = actions.filter((action) => shown[action] > 0 && (action === 'rejected' || shown.dryRun));
  const [chosen, setChosen] = useState<Action>();
  const [text, setText] = useState('');
  const action = chosen ?? (offered.includes('rejected') ? 'rejected' : offered[0]);
  const rows = useMemo(() => loaded.data?.filter((row) => row.action === action) ?? [], [loaded.data, action]);
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return words.length === 0 ? rows : rows.filter((row) => matches(row, words));
  }, [rows, text]);
  if (action === undefined) return null;
  const count = shown[action];
  return (
    <div className="import-rows">
      <div className="toolbar">
        {offered.length === 1 && <h3 className="only-rows">{nameOf(action, shown)}</h3>}
        <fieldset className="segments" hidden={offered.length === 1}>
          <legend className="visually-hidden">Rows</legend>
          {offered.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name={`rows-${shown._id}`}
                checked={each === action}
                onChange={() => setChosen(each)}
              />
              <span>
                {nameOf(each, shown)} <small>{grouped(shown[each])}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <input
          className="input filter"
          type="search"
          aria-label="Filter the rows"
          placeholder="Filter the rows"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <LoadProblem query={loaded} isInCard />
      {loaded.isPending && <Loading rows={3} />}
      {loaded.data && found.length > 0 && (
        <VirtualTable
          className="rows"
          label={nameOf(action, shown)}
          rows={found}
          columns={columnsOf(action)}
          keyOf={(row) => `${row.line}`}
        />
      )}
      {loaded.data && (
        <div className="table-foot" role="status">
          {text !== ''
            ? `${grouped(found.length)} of ${counted(rows.length, 'row')} match`
            : listed(rows.length, count)}
        </div>
      )}
    </div>
  );
}

const listed = (count: number, total: number): string =>
  count < total ? `The first ${grouped(count)} of ${counted(total, 'row')} are kept` : counted(count, 'row');
