/** Where users go next. */
import { type RefObject, useMemo, useState } from 'react';
import type { Operations } from '../../client/types';
import { urlOf } from '../client/call';
import { grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { FlowDiagram } from './flow-diagram';
import { distinctNames, minutesText, placeId } from './format';
import { Panel, type PanelProps, useSeen } from './panel';
import { useAnalytics } from './query';

type Row = Operations['GET /v1/analytics/flows']['answer']['rows'][number];

const shownFlows = 16;
const maxRows = 200;
const limits = [15, 60, 240, 1_440] as const;
const limitWords: Record<(typeof limits)[number], string> = { 15: '15 min', 60: '1 h', 240: '4 h', 1440: '24 h' };

const leftOf = (row: Row) => ({
  description: row.fromDescription,
  tag: row.fromTag,
  externalId: row.fromExternalId,
  geofence: row.fromGeofence,
  beacon: row.fromBeacon,
});
const enteredOf = (row: Row) => ({
  description: row.toDescription,
  tag: row.toTag,
  externalId: row.toExternalId,
  geofence: row.toGeofence,
  beacon: row.toBeacon,
});

const columnsOf = (names: ReadonlyMap<string, string>): readonly DataColumn<Row>[] => [
  { title: 'Left', className: 'clip truncate', value: (row) => names.get(placeId(leftOf(row))) },
  { title: 'Entered next', className: 'clip truncate', value: (row) => names.get(placeId(enteredOf(row))) },
  { title: 'Flows', className: 'number', value: ({ flows }) => flows, cell: ({ flows }) => grouped(flows) },
  { title: 'Users', className: 'number secondary', value: ({ users }) => users, cell: ({ users }) => grouped(users) },
  {
    title: 'Median time between',
    className: 'number secondary',
    value: ({ medianMinutes }) => medianMinutes,
    cell: ({ medianMinutes }) => minutesText(medianMinutes),
  },
];

/** Shows which place users entered next, after they left one. */
export function Flows({ range, filter, refreshMs }: PanelProps) {
  const { element, isSeen } = useSeen();
  const [within, setWithin] = useState<(typeof limits)[number]>(60);
  const { from, to } = range;
  const given = { ...filter, from, to, within };
  const query = useAnalytics(
    'GET /v1/analytics/flows',
    { ...given, limit: maxRows },
    { enabled: isSeen, refetchInterval: refreshMs },
  );
  const rows = query.data?.rows;
  const names = useMemo(() => distinctNames((rows ?? []).flatMap((row) => [leftOf(row), enteredOf(row)])), [rows]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const flows = useMemo(
    () =>
      // Coming back to the same place is a flow too, but says little in a picture of ways.
      (rows ?? [])
        .map((row) => ({ from: placeId(leftOf(row)), to: placeId(enteredOf(row)), count: row.flows }))
        .filter(({ from, to }) => from !== to)
        .slice(0, shownFlows),
    [rows],
  );
  return (
    <div ref={element as RefObject<HTMLDivElement>} className="wide">
      <Panel
        title="Flows"
        csv={urlOf('/v1/analytics/flows', { ...given, format: 'csv' })}
        query={query}
        empty={rows?.length === 0 ? 'Nobody went from one place to another in this time.' : undefined}
        tools={
          <select
            className="input compact"
            aria-label="At most this time between"
            value={within}
            onChange={({ target }) => setWithin(Number(target.value) as typeof within)}
          >
            {limits.map((minutes) => (
              <option key={minutes} value={minutes}>
                within {limitWords[minutes]}
              </option>
            ))}
          </select>
        }
        chart={() =>
          flows.length > 0 ? (
            <FlowDiagram
              label={`The ${flows.length} largest flows between different places. The table has all.`}
              flows={flows}
              nameOf={(id) => names.get(id) ?? id}
            />
          ) : (
            <p className="panel-empty quiet">
              Users only came back to the place that they had left. The table has them.
            </p>
          )
        }
        table={() =>
          rows && (
            <DataTable
              caption="Flows from place to place"
              columns={columns}
              rows={rows}
              more={query.data?.meta.hasMore && 'These are the largest 200. The CSV has all.'}
            />
          )
        }
      />
    </div>
  );
}
