/**
 * A list of geofences or beacons: filters, pages that load while the reader scrolls, and actions on a selection. Only
 * the rows in sight are in the document.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useScope, useWorkspace } from '../state/session';
import { Badge, Button, Confirm, Empty, Loading, Notice } from './controls';
import { absoluteTime, relativeTime } from './time';
import { messageOf, useToasts } from './toasts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
}

interface Named {
  readonly _id: string;
}

/** What a bulk action does to one row. */
type RowAction = 'enable' | 'disable' | 'delete';

interface Props<Row extends Named> {
  /** As in the API's paths: `geofences`. */
  readonly resource: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly filters: ReactNode;
  readonly empty: ReactNode;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  nameOf(row: Row): string;
  loadMore(): void;
  apply(action: RowAction, row: Row): Promise<unknown>;
}

const rowHeight = 45;
const concurrentChanges = 6;
const doneWords: Record<RowAction, string> = { enable: 'enabled', disable: 'disabled', delete: 'deleted' };

/** Runs the change for each row, a few at a time. Resolves to the failures. */
async function forEach<Row>(rows: readonly Row[], change: (row: Row) => Promise<unknown>, onStep: () => void) {
  const failures: unknown[] = [];
  const waiting = [...rows];
  async function work() {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      await change(row).catch((error: unknown) => failures.push(error));
      onStep();
    }
  }
  await Promise.all(Array.from({ length: concurrentChanges }, work));
  return failures;
}

export function ResourceList<Row extends Named>(props: Props<Row>) {
  const { resource, rows, columns, filters, empty, isLoading, error, hasMore, isLoadingMore, nameOf, loadMore } = props;
  const { isOwner } = useWorkspace();
  const scroller = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => rows.filter(({ _id }) => selected.has(_id)), [rows, selected]);

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtualizer.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && rows.length > 0 && lastShown >= rows.length - 20) loadMore();
  }, [hasMore, isLoadingMore, rows.length, lastShown, loadMore]);

  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const isAllSelected = rows.length > 0 && chosen.length === rows.length;
  const before = shown[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <div className="card list">
      {chosen.length > 0 ? (
        <Selection {...props} chosen={chosen} onClear={() => setSelected(new Set())} />
      ) : (
        <div className="toolbar">{filters}</div>
      )}
      {error !== null && (
        <div className="card-body">
          <Notice tone="danger">{messageOf(error)}</Notice>
        </div>
      )}
      {isLoading && error === null ? (
        <Loading />
      ) : rows.length === 0 ? (
        error === null && empty
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section className="table-wrap" ref={scroller} aria-label={`List of ${resource}`} tabIndex={0}>
          <table className="table" aria-rowcount={hasMore ? -1 : rows.length + 1}>
            <thead>
              <tr>
                {isOwner && (
                  <th className="narrow" scope="col">
                    <input
                      type="checkbox"
                      aria-label="Select all that are loaded"
                      checked={isAllSelected}
                      onChange={() => setSelected(isAllSelected ? new Set() : new Set(rows.map(({ _id }) => _id)))}
                    />
                  </th>
                )}
                {columns.map(({ title, className }) => (
                  <th key={title} scope="col" className={className}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {before > 0 && <tr style={{ height: before }} />}
              {shown.map(({ index }) => {
                const row = rows[index]!;
                return (
                  <tr key={row._id} aria-rowindex={index + 2} data-selected={selected.has(row._id) || undefined}>
                    {isOwner && (
                      <td className="narrow">
                        <input
                          type="checkbox"
                          aria-label={`Select ${nameOf(row)}`}
                          checked={selected.has(row._id)}
                          onChange={() => toggle(row._id)}
                        />
                      </td>
                    )}
                    {columns.map(({ title, cell, className }) => (
                      <td key={title} className={className}>
                        {cell(row)}
                      </td>
                    ))}
                  </tr>
                );
              })}
              {after > 0 && <tr style={{ height: after }} />}
            </tbody>
          </table>
        </section>
      )}
      {rows.length > 0 && (
        <div className="table-foot" role="status">
          {hasMore ? `The ${rows.length} updated last are loaded. More load as you scroll.` : `${rows.length} in all`}
          {isLoadingMore && <span className="spinner" />}
        </div>
      )}
    </div>
  );
}

function Selection<Row extends Named>({
  resource,
  chosen,
  apply,
  onClear,
}: Props<Row> & { readonly chosen: readonly Row[]; onClear(): void }) {
  const client = useQueryClient();
  const scope = useScope();
  const toasts = useToasts();
  const [done, setDone] = useState<number>();
  const [isAsking, setAsking] = useState(false);
  const isBusy = done !== undefined;

  async function run(action: RowAction) {
    setAsking(false);
    setDone(0);
    const failures = await forEach(
      chosen,
      (row) => apply(action, row),
      () => setDone((count = 0) => count + 1),
    );
    setDone(undefined);
    await client.invalidateQueries({ queryKey: [scope, resource] });
    const succeeded = chosen.length - failures.length;
    if (succeeded > 0)
      toasts.say(`${succeeded} ${succeeded === 1 ? 'record is' : 'records are'} ${doneWords[action]}.`);
    if (failures.length > 0) toasts.complain(`${failures.length} failed: ${messageOf(failures[0])}`);
    onClear();
  }
  return (
    <div className="toolbar selection">
      <strong className="grow" role="status">
        {isBusy ? `${done} of ${chosen.length}` : `${chosen.length} selected`}
      </strong>
      <Button isCompact disabled={isBusy} onClick={() => void run('enable')}>
        Enable
      </Button>
      <Button isCompact disabled={isBusy} onClick={() => void run('disable')}>
        Disable
      </Button>
      <Button isCompact look="danger" disabled={isBusy} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Button
        isCompact
        look="plain"
        icon="close"
        aria-label="Clear the selection"
        disabled={isBusy}
        onClick={onClear}
      />
      {isAsking && (
        <Confirm
          title={`Delete ${chosen.length} ${chosen.length === 1 ? resource.replace(/s$/, '') : resource}?`}
          action="Delete"
          onConfirm={() => void run('delete')}
          onClose={() => setAsking(false)}
        >
          <p>Devices that are inside leave without an event. This can not be undone.</p>
        </Confirm>
      )}
    </div>
  );
}

/** Returns the value after it has not changed for a moment, so that typing does not send a request per letter. */
export function useSettled<Value>(value: Value, delayMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}

interface FilterProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
}

const FilterInput = ({ label, value, onChange }: FilterProps) => (
  <input
    className="input filter"
    type="search"
    aria-label={label}
    placeholder={label}
    value={value}
    onChange={(event) => onChange(event.target.value)}
  />
);

const noFilters = { tag: '', externalId: '' };

/** Returns inputs for the tag and the external id, and what they ask for once the reader stops typing. */
export function usePairFilters() {
  const [filters, setFilters] = useState(noFilters);
  const { tag, externalId } = useSettled(filters);
  return {
    query: { tag: tag || undefined, externalId: externalId || undefined },
    isFiltered: tag !== '' || externalId !== '',
    clear: () => setFilters(noFilters),
    inputs: (
      <>
        <FilterInput label="Tag" value={filters.tag} onChange={(text) => setFilters({ ...filters, tag: text })} />
        <FilterInput
          label="External id"
          value={filters.externalId}
          onChange={(text) => setFilters({ ...filters, externalId: text })}
        />
      </>
    ),
  };
}

interface Listed extends Named {
  readonly description: string;
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
    cell: ({ _id, description }) => <Link href={`/${resource}/${_id}`}>{description}</Link>,
  },
  { title: 'Tag', className: 'clip-short truncate', cell: ({ tag }) => tag },
  {
    title: 'External id',
    className: 'secondary clip-short truncate',
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
    cell: ({ updatedAt }) =>
      updatedAt && (
        <span className="quiet" title={absoluteTime(updatedAt)}>
          {relativeTime(updatedAt)}
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
      <p>The filters must match exactly.</p>
    </Empty>
  );
}
