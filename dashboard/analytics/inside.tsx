/** Who is inside now, by place. */
import { useMemo, useState } from 'react';
import type { Operations } from '../../client/types';
import { urlOf } from '../client/call';
import { grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { RelativeTime } from '../components/relative-time';
import { distinctNames, placeId } from './format';
import { Panel, type PanelProps, PlaceButton, RankedBars } from './panel';
import { useAnalytics } from './query';

type Row = Operations['GET /v1/analytics/inside']['answer']['rows'][number];

const shownPlaces = 9;
const maxPlaces = 1_000;
const hourMs = 3_600_000;
const silences = [1, 24, 168] as const;
const silenceWords: Record<(typeof silences)[number], string> = { 1: '1 h', 24: '24 h', 168: '7 days' };

/** Shows who is inside now. The range of the page does not apply: there is one of its own for the last location. */
export function Inside({ filter, refreshMs, choose }: PanelProps) {
  const [hours, setHours] = useState<(typeof silences)[number]>(168);
  // Whole hours, so that the query stays the same while it is asked again.
  const from = hours === 168 ? undefined : new Date(Math.floor(Date.now() / hourMs - hours) * hourMs).toISOString();
  const given = { ...filter, from };
  const query = useAnalytics(
    'GET /v1/analytics/inside',
    { ...given, limit: maxPlaces },
    { refetchInterval: refreshMs },
  );
  const rows = query.data?.rows;
  const names = useMemo(() => distinctNames(rows ?? []), [rows]);
  const columns: readonly DataColumn<Row>[] = [
    {
      title: 'Place',
      className: 'clip-short truncate',
      value: (row) => names.get(placeId(row)),
      cell: (row) => <PlaceButton place={row} names={names} choose={choose} />,
    },
    {
      title: 'Devices',
      className: 'number',
      value: ({ devices }) => devices,
      cell: ({ devices }) => grouped(devices),
    },
    {
      title: 'Last update',
      className: 'number',
      value: ({ lastUpdatedAt }) => lastUpdatedAt,
      cell: ({ lastUpdatedAt }) => <RelativeTime time={lastUpdatedAt} />,
    },
  ];
  return (
    <Panel
      title="Inside now"
      csv={urlOf('/v1/analytics/inside', { ...given, format: 'csv' })}
      query={query}
      empty={rows?.length === 0 ? 'No device is inside.' : undefined}
      foot={
        <label className="row">
          Last location within
          <select
            className="input compact"
            value={hours}
            onChange={({ target }) => setHours(Number(target.value) as typeof hours)}
          >
            {silences.map((each) => (
              <option key={each} value={each}>
                {silenceWords[each]}
              </option>
            ))}
          </select>
        </label>
      }
      chart={() => (
        <RankedBars
          label="Devices inside, by place"
          rows={(rows ?? []).slice(0, shownPlaces).map((row) => ({
            key: placeId(row),
            name: <PlaceButton place={row} names={names} choose={choose} hasTag />,
            value: row.devices,
            text: grouped(row.devices),
          }))}
        />
      )}
      table={() =>
        rows && (
          <DataTable
            caption="Devices inside, by place"
            columns={columns}
            rows={rows}
            pageSize={7}
            more={query.data?.meta.hasMore && 'These are the 1,000 places with the most devices. The CSV has all.'}
          />
        )
      }
    />
  );
}
