/** The beginning of a file: its columns, its first rows, and their shapes on the map. */
import { useMemo } from 'react';
import { Badge, Notice } from '../components/controls';
import { counted, grouped } from '../components/counts';
import type { TableColumn } from '../components/table';
import { VirtualTable } from '../components/virtual-table';
import type { Preview, PreviewColumn, PreviewRow } from './preview';
import { PreviewMap } from './preview-map';

const tones = { known: 'success', ignored: 'neutral', unknown: 'danger' } as const;
const words = { known: '', ignored: ', ignored', unknown: ', unknown' } as const;

function columnOf({ name, state }: PreviewColumn, index: number): TableColumn<PreviewRow> {
  return {
    id: `${index} ${name}`,
    className: 'clip-short truncate',
    title: state === 'known' ? name : <Badge tone={tones[state]}>{name + words[state]}</Badge>,
    cell: ({ cells }) => <span title={cells[index]}>{cells[index]}</span>,
  };
}

const line: TableColumn<PreviewRow> = {
  title: 'Line',
  className: 'number narrow quiet',
  cell: (row) => grouped(row.line),
};

export function PreviewView({ preview }: { readonly preview: Preview }) {
  const { columns, missing, rows, shapes, problem, isWhole, estimatedRows } = preview;
  const tableColumns = useMemo(() => [line, ...columns.map(columnOf)], [columns]);
  const unknown = columns.filter(({ state }) => state === 'unknown').map(({ name }) => name);
  const drawn = shapes.geofences.length + shapes.beacons.length;
  const total = isWhole ? grouped(rows.length) : `about ${grouped(Number(estimatedRows.toPrecision(2)))}`;
  return (
    <>
      <div className="card-body stack-tight">
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {unknown.length > 0 && (
          <Notice tone="warning">
            {unknown.length === 1 ? 'This column is not known' : 'These columns are not known'}:{' '}
            <strong>{unknown.join(', ')}</strong>. Rename or remove {unknown.length === 1 ? 'it' : 'them'}: the import
            refuses what it does not know.
          </Notice>
        )}
        {missing.length > 0 && (
          <Notice tone="warning">
            {missing.length === 1 ? 'This column is required' : 'These columns are required'}:{' '}
            <strong>{missing.join(', ')}</strong>.
          </Notice>
        )}
        <p className="quiet">
          {columns.length > 0 && unknown.length === 0 && `${counted(columns.length, 'column')}, all recognised. `}
          {isWhole
            ? `${counted(rows.length, 'row')}.`
            : `The first ${grouped(rows.length)} of ${total} rows are shown here.`}
        </p>
      </div>
      {rows.length > 0 && (
        <div className="preview">
          <VirtualTable
            className="rows"
            label="First rows"
            rows={rows}
            columns={tableColumns}
            keyOf={(row) => row.line}
          />
          {drawn > 0 && (
            <figure className="preview-figure">
              <PreviewMap geofences={shapes.geofences} beacons={shapes.beacons} />
              <figcaption className="quiet small">
                {isWhole && drawn === rows.length
                  ? `The shapes of all ${counted(drawn, 'row')}`
                  : `The shapes of ${grouped(drawn)} of ${total} rows`}
                {shapes.withoutShape > 0 &&
                  `; ${counted(shapes.withoutShape, 'row has', 'rows have')} no coordinates that can be drawn`}
              </figcaption>
            </figure>
          )}
        </div>
      )}
    </>
  );
}
