/** Visits: how many each place had, and each of them. */
import { type RefObject, useMemo, useState } from 'react';
import type { Operations } from '../../client/types';
import { urlOf } from '../client/call';
import { Badge } from '../components/controls';
import { grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { distinctNames, minutesText, placeId } from './format';
import { Bar, Panel, type PanelProps, PlaceButton, useSeen } from './panel';
import { useAnalytics } from './query';

type Place = Operations['GET /v1/analytics/dwell-times']['answer']['rows'][number];
type Visit = Operations['GET /v1/analytics/visits']['answer']['rows'][number];

const states = {
  ended: <Badge>Ended</Badge>,
  open: <Badge tone="success">Inside</Badge>,
  unseen: <Badge tone="warning">Exit not seen</Badge>,
} as const;

const maxPlaces = 200;

const allOf = ({ visits, openVisits, unseenVisits }: Place): number => visits + openVisits + unseenVisits;

/** Shows visits, summed up by place or one by one. */
export function Visits({ range, filter, refreshMs, choose }: PanelProps) {
  const { element, isSeen } = useSeen();
  const { from, to, timeZone } = range;
  const given = { ...filter, from, to };
  const options = { enabled: isSeen, refetchInterval: refreshMs };
  const places = useAnalytics(
    'GET /v1/analytics/dwell-times',
    { ...given, groupBy: 'place', limit: maxPlaces },
    options,
  );
  const [isEach, setEach] = useState(false);
  const visits = useAnalytics('GET /v1/analytics/visits', given, { ...options, enabled: isSeen && isEach });
  const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone });
  // The API orders by ended visits.
  const byVisits = places.data?.rows.toSorted((one, other) => allOf(other) - allOf(one)) ?? [];
  const names = useMemo(
    () => distinctNames([...(places.data?.rows ?? []), ...(visits.data?.rows ?? [])]),
    [places.data, visits.data],
  );
  const largest = Math.max(1, ...byVisits.map(allOf));
  const placeColumns: readonly DataColumn<Place>[] = [
    {
      title: 'Place',
      className: 'clip-short truncate',
      value: (row) => names.get(placeId(row)),
      cell: (row) => <PlaceButton place={row} names={names} choose={choose} />,
    },
    { title: 'Tag', className: 'secondary', value: ({ tag }) => tag },
    {
      title: 'Visits',
      className: 'number narrow',
      value: allOf,
      cell: (row) => grouped(allOf(row)),
    },
    {
      title: 'Compared',
      className: 'bars secondary',
      value: allOf,
      cell: (row) => <Bar share={allOf(row) / largest} />,
    },
    {
      title: 'Median',
      className: 'number',
      value: ({ p50Minutes }) => p50Minutes,
      cell: ({ p50Minutes }) => minutesText(p50Minutes),
    },
    {
      title: '90 % shorter than',
      className: 'number secondary',
      value: ({ p90Minutes }) => p90Minutes,
      cell: ({ p90Minutes }) => minutesText(p90Minutes),
    },
    {
      title: 'Inside',
      className: 'number secondary',
      value: ({ openVisits }) => openVisits,
      cell: ({ openVisits }) => grouped(openVisits),
    },
  ];
  const visitColumns: readonly DataColumn<Visit>[] = [
    {
      title: 'Entered',
      className: 'narrow',
      value: ({ enteredAt }) => enteredAt,
      cell: ({ enteredAt }) => time.format(new Date(enteredAt)),
    },
    {
      title: 'Place',
      className: 'clip-short truncate',
      value: (row) => names.get(placeId(row)),
      cell: (row) => <PlaceButton place={row} names={names} choose={choose} />,
    },
    { title: 'User', className: 'clip-short truncate secondary', value: ({ userId, deviceId }) => userId ?? deviceId },
    {
      title: 'Duration',
      className: 'number',
      value: ({ durationMinutes }) => durationMinutes,
      cell: ({ durationMinutes }) => minutesText(durationMinutes),
    },
    { title: 'State', className: 'secondary', value: ({ state }) => state, cell: ({ state }) => states[state] },
  ];
  return (
    <div ref={element as RefObject<HTMLDivElement>} className="whole">
      <Panel
        title="Visits"
        names={['By place', 'Each visit']}
        csv={urlOf('/v1/analytics/visits', { ...given, format: 'csv' })}
        query={isEach ? visits : places}
        onShow={(shown) => setEach(shown === 'rows')}
        empty={places.data?.rows.length === 0 ? 'No visit began in this range.' : undefined}
        chart={() =>
          places.data && (
            <DataTable
              caption="Visits by place"
              columns={placeColumns}
              rows={byVisits}
              more={places.data.meta.hasMore && 'These are the 200 places with the most visits.'}
            />
          )
        }
        table={() =>
          visits.data && (
            <DataTable
              caption={`Visits, newest first, in ${timeZone}`}
              columns={visitColumns}
              rows={visits.data.rows}
              pageSize={15}
              more={visits.data.meta.hasMore && 'These are the newest 1,000. The CSV has all.'}
            />
          )
        }
      />
    </div>
  );
}
