/**
 * A list of geofences or beacons: filters, pages that load while the reader scrolls, and actions on a selection, or on
 * all that match. Only the rows in sight are in the document.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { type BulkAction, type BulkResource, type BulkTarget, changeMany } from '../client/bulk';
import { type Pages, useApi, useNextPages } from '../client/hooks';
import { environmentNames, useScope, useWorkspace } from '../state/session';
import { Badge, Beneath, Button, Confirm, Empty, Loading } from './controls';
import { counted, grouped } from './counts';
import type { ListFilters, Sort } from './list-filters';
import { type Loadable, LoadProblem } from './load-problem';
import { RelativeTime } from './relative-time';
import { SortButton } from './sort-button';
import type { TableColumn } from './table';
import { messageOf, useToasts } from './toasts';
import { NextRows, VirtualTable } from './virtual-table';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
  /** The orders that a press of the heading chooses, the first one first. */
  readonly sorts?: readonly [Sort, Sort] | readonly [Sort];
}

interface Named {
  readonly _id: string;
  readonly description: string;
}

interface Props<Row extends Named> {
  readonly resource: BulkResource;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly filters: ListFilters;
  readonly empty: ReactNode;
  /** What the rows are from. */
  readonly pages: Loadable & Pages;
}

/** What the reader has chosen: rows one by one, or all that match the filters. */
type Selected = ReadonlySet<string> | 'all';

export function ResourceList<Row extends Named>(props: Props<Row>) {
  const { resource, rows, columns, filters, empty, pages } = props;
  const { isOwner } = useWorkspace();
  const [selected, setSelected] = useState<Selected>(new Set());
  const { data: count } = useApi(`GET /v1/${resource}/count`, { query: filters.conditions });

  // Other filters show other rows: a selection out of sight would surprise.
  const conditions = JSON.stringify(filters.conditions);
  const [shownConditions, setShownConditions] = useState(conditions);
  if (shownConditions !== conditions) {
    setShownConditions(conditions);
    setSelected(new Set());
  }
  const chosen = useMemo(
    () => (selected === 'all' ? rows : rows.filter(({ _id }) => selected.has(_id))),
    [rows, selected],
  );

  const onSight = useNextPages(pages, rows.length);

  const toggle = (id: string) => {
    const next = new Set(selected === 'all' ? rows.map(({ _id }) => _id) : selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const isChosen = ({ _id }: Row) => selected === 'all' || selected.has(_id);
  const isEverySelected = rows.length > 0 && chosen.length === rows.length;
  const selection: TableColumn<Row> = {
    id: 'selection',
    className: 'narrow',
    title: (
      <input
        type="checkbox"
        aria-label="Select all that are loaded"
        checked={isEverySelected}
        ref={(box) => {
          if (box) box.indeterminate = chosen.length > 0 && !isEverySelected;
        }}
        onChange={() => setSelected(new Set(isEverySelected ? [] : rows.map(({ _id }) => _id)))}
      />
    ),
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${row.description}`}
        checked={isChosen(row)}
        onChange={() => toggle(row._id)}
      />
    ),
  };
  const sorted = columns.map((column) => sortable(column, filters));
  const total = count && (count.complete ? grouped(count.count) : `at least ${grouped(count.count)}`);
  // Not only when all loaded rows are chosen: the next page may come at any moment.
  const hasOthers = selected !== 'all' && (pages.hasNextPage || chosen.length < rows.length);
  return (
    <div className="card list">
      {isOwner && chosen.length > 0 ? (
        <Selection
          resource={resource}
          filters={filters}
          target={selected === 'all' ? { conditions: filters.conditions } : { ids: chosen.map(({ _id }) => _id) }}
          size={selected === 'all' ? Math.max(count?.count ?? 0, rows.length) : chosen.length}
          isAtLeast={selected === 'all' && count?.complete !== true}
          more={hasOthers ? total : undefined}
          onAll={() => setSelected('all')}
          onClear={() => setSelected(new Set())}
        />
      ) : (
        <div className="toolbar">{filters.inputs}</div>
      )}
      <LoadProblem query={pages} isInCard />
      {pages.error === null && rows.length === 0 && (pages.isPending || pages.hasNextPage) ? (
        <Loading />
      ) : rows.length === 0 ? (
        pages.error === null && empty
      ) : (
        <VirtualTable
          label={`List of ${resource}`}
          rows={rows}
          columns={isOwner ? [selection, ...sorted] : sorted}
          hasMore={pages.hasNextPage}
          keyOf={({ _id }) => _id}
          isSelected={isChosen}
          onSight={onSight}
        />
      )}
      {/* Readers of screens hear only changes of what is there already, also when nothing matches any more. */}
      <div className={rows.length > 0 ? 'table-foot' : 'visually-hidden'}>
        <span role="status">{total === undefined ? '' : `${total} in all`}</span>
        <NextRows pages={pages}>{grouped(rows.length)} are loaded, more as you scroll</NextRows>
      </div>
    </div>
  );
}

/** Returns the column with a title that sorts by it, if the list can be sorted so. */
function sortable<Row>({ title, sorts, ...rest }: Column<Row>, filters: ListFilters): TableColumn<Row> {
  if (sorts === undefined) return { title, ...rest };
  const at = (sorts as readonly Sort[]).indexOf(filters.sort);
  const order = at < 0 ? undefined : filters.sort.startsWith('-') ? 'descending' : 'ascending';
  return {
    ...rest,
    id: title,
    order,
    title: (
      <SortButton order={order} onClick={() => filters.sortBy(sorts[at === 0 && sorts.length > 1 ? 1 : 0]!)}>
        {title}
      </SortButton>
    ),
  };
}

const doneWords: Record<BulkAction, string> = { enable: 'enabled', disable: 'disabled', delete: 'deleted' };
const titleWords: Record<BulkAction, string> = { enable: 'Enable', disable: 'Disable', delete: 'Delete' };
const consequences: Record<BulkAction, string> = {
  enable: 'They make events from the next location on.',
  disable: 'They make no events until they are enabled again.',
  delete: 'Devices that are inside leave without an event. This cannot be undone.',
};

interface SelectionProps {
  readonly resource: BulkResource;
  readonly filters: ListFilters;
  readonly target: BulkTarget;
  readonly size: number;
  readonly isAtLeast: boolean;
  /** How many match, if not all of them are chosen; undefined: there are no others. */
  readonly more: string | undefined;
  onAll(): void;
  onClear(): void;
}

function Selection({ resource, filters, target, size, isAtLeast, more, onAll, onClear }: SelectionProps) {
  const client = useQueryClient();
  const scope = useScope();
  const toasts = useToasts();
  const [running, setRunning] = useState<AbortController>();
  const [done, setDone] = useState(0);
  const [asked, setAsked] = useState<BulkAction>();
  const isBusy = running !== undefined;
  const isAll = 'conditions' in target;

  async function run(action: BulkAction) {
    setAsked(undefined);
    const stop = new AbortController();
    const { signal } = stop;
    setDone(0);
    setRunning(stop);
    const outcome = await changeMany(resource, action, target, { scope, signal, onProgress: setDone });
    setRunning(undefined);
    // What was refused can be tried again with the same records.
    if (outcome.refusal === undefined) onClear();
    // From the first page: to read all pages again that were loaded would take as many requests.
    await client.resetQueries({ queryKey: [scope, resource] });
    const count = outcome.changed + outcome.unchanged;
    // Another environment may be on the page by now.
    const where = outcome.isStopped ? `Stopped in ${environmentNames[scope.environment]}: ` : '';
    const done = `${where}${counted(count, 'record is', 'records are')} ${doneWords[action]}.`;
    if (outcome.refusal === undefined) toasts.say(done);
    else toasts.complain(`${count > 0 ? `${done} ` : ''}${messageOf(outcome.refusal)}`);
  }
  // A user who has left the list can neither see nor stop the change.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope has another list
  useEffect(() => () => running?.abort(), [running, scope]);
  // Enabling and disabling can be undone, so they need no question, except for records that are not in sight.
  const start = (action: BulkAction) => (action === 'delete' || isAll ? setAsked(action) : void run(action));
  const text = `${isAtLeast ? 'at least ' : ''}${grouped(size)}`;
  const noun = size === 1 ? resource.replace(/s$/, '') : resource;
  return (
    <div className="toolbar selection">
      <strong className="grow" role="status">
        {isBusy ? `${grouped(done)} of ${text}` : isAll ? `All ${text} selected` : `${text} selected`}
        {more !== undefined && !isBusy && (
          <button type="button" className="link-button" onClick={onAll}>
            Select all {more} that {filters.isFiltered ? 'match' : 'there are'}
          </button>
        )}
      </strong>
      {isBusy ? (
        <Button isCompact onClick={() => running.abort()}>
          Stop
        </Button>
      ) : (
        <>
          <Button isCompact onClick={() => start('enable')}>
            Enable
          </Button>
          <Button isCompact onClick={() => start('disable')}>
            Disable
          </Button>
          <Button isCompact look="danger" onClick={() => start('delete')}>
            Delete
          </Button>
          <Button isCompact look="plain" icon="close" aria-label="Clear the selection" onClick={onClear} />
        </>
      )}
      {asked && (
        <Confirm
          title={`${titleWords[asked]} ${text} ${noun}?`}
          action={titleWords[asked]}
          isDangerous={asked === 'delete'}
          onConfirm={() => void run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            {isAll &&
              (filters.isFiltered
                ? 'These are all that match the filters, also those that are not loaded. '
                : `These are all ${resource} of this environment. `)}
            {consequences[asked]}
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** What the rows of all resources have. */
export interface Listed extends Named {
  readonly tag?: string;
  readonly externalId?: string;
  readonly enabled?: boolean;
  readonly updatedAt?: string;
}

/** Returns the columns of geofences and beacons. `own` is what only this kind has. */
export const columnsWith = <Row extends Listed>(resource: string, own: Column<Row>): readonly Column<Row>[] => [
  {
    title: 'Description',
    className: 'name clip truncate',
    sorts: ['description', '-description'],
    cell: ({ _id, description, tag, externalId }) => (
      <>
        <Link href={`/${resource}/${_id}`}>{description}</Link>
        <Beneath>{[tag, externalId].filter(Boolean).join(' · ')}</Beneath>
      </>
    ),
  },
  { title: 'Tag', className: 'secondary told-beneath clip-short truncate', cell: ({ tag }) => tag },
  {
    title: 'External id',
    className: 'secondary told-beneath clip-short truncate',
    cell: ({ externalId }) => <code>{externalId}</code>,
  },
  own,
  {
    title: 'State',
    cell: ({ enabled }) => (enabled ? <Badge tone="success">Enabled</Badge> : <Badge>Disabled</Badge>),
  },
  {
    title: 'Updated',
    className: 'secondary narrow',
    sorts: ['-updatedAt'],
    cell: ({ updatedAt }) =>
      updatedAt && (
        <span className="quiet">
          <RelativeTime time={updatedAt} />
        </span>
      ),
  },
];

/** Shown where a list has no rows. */
export function NoRows({
  isFiltered,
  title,
  children,
  actions,
  onClear,
}: {
  readonly isFiltered: boolean;
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  onClear(): void;
}) {
  if (!isFiltered) {
    return (
      <Empty title={title} actions={actions}>
        <p>{children}</p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing matches" actions={<Button onClick={onClear}>Clear the filters</Button>}>
      <p>The search looks for words. Tag, external id and metadata must match exactly.</p>
    </Empty>
  );
}
