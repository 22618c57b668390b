/** A table of rows that are all loaded: sorted by its heads, and in pages. */
import {
  createColumnHelper,
  createPaginatedRowModel,
  createSortedRowModel,
  rowPaginationFeature,
  rowSortingFeature,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, useMemo } from 'react';
import { Button } from './controls';
import { grouped } from './counts';
import { SortButton } from './sort-button';

export interface DataColumn<Row> {
  readonly title: string;
  /** What is sorted by, and shown unless there is a `cell`. Undefined comes last. */
  readonly value: (row: Row) => string | number | undefined;
  readonly cell?: (row: Row) => ReactNode;
  readonly className?: string;
}

interface Props<Row> {
  /** Read by screen readers. */
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  readonly pageSize?: number;
  /** Said when the server has more rows than it sent. */
  readonly more?: ReactNode;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
  rowPaginationFeature,
  paginatedRowModel: createPaginatedRowModel(),
});

const sortWords = { asc: 'ascending', desc: 'descending' } as const;

export function DataTable<Row extends object>({ caption, columns, rows, pageSize = 10, more }: Props<Row>) {
  const data = useMemo(() => [...rows], [rows]);
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return helper.columns(
      columns.map(({ title, value }, index) =>
        helper.accessor(value, { id: `${index}`, header: title, sortUndefined: 'last' as const }),
      ),
    );
  }, [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data,
    initialState: { pagination: { pageIndex: 0, pageSize } },
  });
  const { pageIndex } = table.state.pagination;
  const pages = table.getPageCount();
  const first = pageIndex * pageSize;
  const last = Math.min(first + pageSize, rows.length);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="table-wrap" aria-label={caption} tabIndex={0}>
        <table className="table">
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map(({ id, column }) => {
                  const { title, className } = columns[Number(id)]!;
                  const sorted = column.getIsSorted();
                  const order = sorted ? sortWords[sorted] : undefined;
                  return (
                    <th key={id} scope="col" className={className} aria-sort={order}>
                      <SortButton order={order} onClick={(event) => column.getToggleSortingHandler()?.(event)}>
                        {title}
                      </SortButton>
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <tbody>
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id}>
                {columns.map(({ title, value, cell, className }) => (
                  <td key={title} className={className} dir="auto">
                    {cell ? cell(row.original) : value(row.original)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {(pages > 1 || more) && (
        <div className="table-foot">
          <span>
            {pages > 1 && `${grouped(first + 1)} to ${grouped(last)} of ${grouped(rows.length)}. `}
            {more}
          </span>
          {pages > 1 && (
            <span className="row">
              <Button isCompact disabled={!table.getCanPreviousPage()} onClick={() => table.previousPage()}>
                Previous
              </Button>
              <Button isCompact disabled={!table.getCanNextPage()} onClick={() => table.nextPage()}>
                Next
              </Button>
            </span>
          )}
        </div>
      )}
    </>
  );
}
