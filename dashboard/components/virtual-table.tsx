/** A table of many rows, of which only those in sight are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Pages } from '../client/hooks';
import { Cells, type TableColumn, TableHead } from './table';

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

export function VirtualTable<Row>(props: Props<Row>) {
  const { label, rows, columns, hasMore = false, className = '', keyOf, isSelected, onSight } = props;
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => keyOf(rows[index]!),
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => onSight?.(last), [last, onSight]);
  const before = shown[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={`table-wrap ${className}`} ref={scroller} aria-label={label} tabIndex={0}>
      <table className="table" aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <TableHead columns={columns} />
        <tbody>
          {before > 0 && <tr style={{ height: before }} />}
          {shown.map(({ index }) => {
            const row = rows[index]!;
            return (
              <tr
                key={keyOf(row)}
                ref={virtualizer.measureElement}
                data-index={index}
                data-selected={isSelected?.(row) || undefined}
                aria-rowindex={index + 2}
              >
                <Cells columns={columns} row={row} />
              </tr>
            );
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  );
}

/** Says at the foot of a table that further rows follow, or that they are on their way. */
export function NextRows({ pages, children }: { readonly pages: Pages; readonly children: ReactNode }) {
  if (pages.isFetchingNextPage) return <span className="spinner" />;
  return pages.hasNextPage && pages.error === null && <span className="small">{children}</span>;
}
