/** A table of many rows, of which only those in sight are in the document. */
import { Fragment, type ReactNode, useEffect } from 'react';
import type { Pages } from '../client/hooks';
import { Cells, type TableColumn, TableHead } from './table';
import { useVirtualRows } from './virtual-rows';

interface Props<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly TableColumn<Row>[];
  /** Further rows may follow. */
  readonly hasMore?: boolean;
  readonly className?: string;
  keyOf(row: Row): string | number;
  isSelected?(row: Row): boolean;
  /** Called with the number of the last row in sight. */
  onSight?(lastIndex: number): void;
}

/** Of one line of text. Rows are measured when they come into sight. */
const rowHeight = 41;

/** Shows a table of any length. Only the rows in sight are in the document. */
export function VirtualTable<Row>(props: Props<Row>) {
  const { label, rows, columns, hasMore = false, className = '', keyOf, isSelected, onSight } = props;
  const list = useVirtualRows({ count: rows.length, rowHeight, keyOf: (index) => keyOf(rows[index]!) });
  const { virtualizer, lastInSight } = list;
  useEffect(() => onSight?.(lastInSight), [lastInSight, onSight]);
  const after = virtualizer.getTotalSize() - (list.rows.at(-1)?.end ?? 0);
  return (
    <section className={`table-wrap ${className}`} ref={list.scroller} aria-label={label} {...list.listeners}>
      <table className="table" aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <TableHead columns={columns} />
        <tbody>
          {list.rows.map(({ index, start }, place) => {
            const row = rows[index]!;
            return (
              <Fragment key={keyOf(row)}>
                <Gap height={start - (list.rows[place - 1]?.end ?? 0)} />
                <tr
                  ref={virtualizer.measureElement}
                  data-index={index}
                  data-selected={isSelected?.(row) || undefined}
                  aria-rowindex={index + 2}
                >
                  <Cells columns={columns} row={row} />
                </tr>
              </Fragment>
            );
          })}
          <Gap height={after} />
        </tbody>
      </table>
    </section>
  );
}

/** The place of rows that are not in the document. */
const Gap = ({ height }: { readonly height: number }) => height > 0 && <tr style={{ height }} />;

/** Says at the foot of a table that further rows follow, or that they are on their way. */
export function NextRows({ pages, children }: { readonly pages: Pages; readonly children: ReactNode }) {
  if (pages.isFetchingNextPage) return <span className="spinner" />;
  return pages.hasNextPage && pages.error === null && <span className="small">{children}</span>;
}
