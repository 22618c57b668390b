/** How long visits last: the histogram and its quantiles. */
import type { UseQueryResult } from '@tanstack/react-query';
import { type Answer, urlOf } from '../client/call';
import { BarChart } from '../components/bar-chart';
import { grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { bucketNames, minutesText, shareText } from './format';
import { Panel, type PanelProps } from './panel';

interface Row {
  readonly index: number;
  readonly name: string;
  readonly visits: number;
  readonly share: string;
}

const columns: readonly DataColumn<Row>[] = [
  { title: 'Duration', value: ({ index }) => index, cell: ({ name }) => name },
  { title: 'Visits', className: 'number', value: ({ visits }) => visits, cell: ({ visits }) => grouped(visits) },
  { title: 'Share', className: 'number', value: ({ visits }) => visits, cell: ({ share }) => share },
];

type DwellAnswer = Answer<'GET /v1/analytics/dwell-times'>;

/** Shows how many visits lasted how long, with their percentiles. */
export function Dwells({ range, filter, query }: PanelProps & { readonly query: UseQueryResult<DwellAnswer> }) {
  const { from, to } = range;
  const row = query.data?.rows[0];
  const names = bucketNames(query.data?.meta.boundsMinutes ?? []);
  const rows = (row?.histogram ?? []).map((visits, index) => ({
    index,
    visits,
    name: names[index] ?? '',
    share: shareText(visits, row?.visits ?? 0),
  }));
  return (
    <Panel
      title="Dwell times"
      csv={urlOf('/v1/analytics/dwell-times', { ...filter, from, to, groupBy: 'place', format: 'csv' })}
      query={query}
      empty={row && row.visits > 0 ? undefined : 'No visit of this range has ended.'}
      chart={() => (
        <>
          <BarChart
            height={330}
            label="Visits by duration. The table has the same numbers."
            names={names}
            series={[{ name: 'Visits', values: rows.map(({ visits }) => visits) }]}
          />
          {row && (
            <dl className="quantiles">
              {(
                [
                  ['p10', row.p10Minutes],
                  ['Median', row.p50Minutes],
                  ['p90', row.p90Minutes],
                  ['p99', row.p99Minutes],
                ] as const
              ).map(([name, minutes]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{minutesText(minutes)}</dd>
                </div>
              ))}
            </dl>
          )}
        </>
      )}
      table={() => <DataTable caption="Visits by duration" columns={columns} rows={rows} pageSize={21} />}
    />
  );
}
