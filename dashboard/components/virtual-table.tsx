/** A table of many rows, of which only those in sight are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Order } from './sort-button';

export interface VirtualColumn<Row> {
  /** Names the column in lists; default: the title. */
  readonly id?: string;
  readonly title: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
  /** The order of the rows, if they are sorted by this column. */
  readonly order?: Order | undefined;
}

interface Props<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly VirtualColumn<Row>[];
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
  const nameOf = ({ id, title }: VirtualColumn<Row>): string => id ?? String(title);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={`table-wrap ${className}`} ref={scroller} aria-label={label} tabIndex={0}>
      <table className="table" aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={nameOf(column)} scope="col" className={column.className} aria-sort={column.order}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
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
                {columns.map((column) => (
                  <td key={nameOf(column)} className={column.className}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  );
}
