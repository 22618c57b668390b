/** A table of many rows, of which only those in sight are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

export interface VirtualColumn<Row> {
  /** Names the column in lists; default: the title. */
  readonly id?: string;
  readonly title: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
}

interface Props<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly VirtualColumn<Row>[];
  keyOf(row: Row): string | number;
}

const rowHeight = 41;

export function VirtualTable<Row>({ label, rows, columns, keyOf }: Props<Row>) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const shown = virtualizer.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const nameOf = ({ id, title }: VirtualColumn<Row>): string => id ?? String(title);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table-wrap virtual" ref={scroller} aria-label={label} tabIndex={0}>
      <table className="table" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={nameOf(column)} scope="col" className={column.className}>
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
              <tr key={keyOf(row)} aria-rowindex={index + 2}>
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
