/** Tables by their columns. */
import { type ReactNode, useRef } from 'react';
import { useRowKeys } from './row-keys';
import type { Order } from './sort-button';

export interface TableColumn<Row> {
  /** Names the column in lists; default: the title. */
  readonly id?: string;
  readonly title: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
  /** The order of the rows, if they are sorted by this column. */
  readonly order?: Order | undefined;
}

interface ColumnsProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
}

const nameOf = <Row,>({ id, title }: TableColumn<Row>): string => id ?? String(title);

export const TableHead = <Row,>({ columns }: ColumnsProps<Row>) => (
  <thead>
    <tr>
      {columns.map((column) => (
        <th key={nameOf(column)} scope="col" className={column.className} aria-sort={column.order}>
          {column.title}
        </th>
      ))}
    </tr>
  </thead>
);

export const Cells = <Row,>({ columns, row }: ColumnsProps<Row> & { readonly row: Row }) =>
  columns.map((column) => (
    // A name is cut at its own end, which is on the left in Arabic and Hebrew.
    <td key={nameOf(column)} className={column.className} dir="auto">
      {column.cell(row)}
    </td>
  ));

interface PlainProps<Row> extends ColumnsProps<Row> {
  readonly rows: readonly Row[];
}

/** A table of few rows. */
export function PlainTable<Row extends { readonly _id: string }>({ columns, rows }: PlainProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const { listeners } = useRowKeys({
    scroller,
    count: rows.length,
    keyOf: (index) => rows[index]!._id,
    firstInSight: () => 0,
  });
  return (
    <div className="table-wrap" ref={scroller} {...listeners}>
      <table className="table">
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row, index) => (
            <tr key={row._id} data-index={index}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
